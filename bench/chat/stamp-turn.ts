import type { Service } from '../../test/support/service.ts';
import { handedOutAt } from './handed-out.ts';
import { watchModel } from './model-moments.ts';
import { watchPublishing } from './publish-moments.ts';
import { signalMoments } from './signal-moments.ts';
import { storedMoments } from './stored-moments.ts';
import type { Talk } from './talk.ts';
import type { TurnMoment } from './turn-moments.ts';
import { watchUnpauses } from './unpause-moments.ts';

/** Milliseconds since the message was posted. */
export type StampedTurn = Record<TurnMoment, number>;

export interface TurnStamper {
  stamp(): Promise<StampedTurn>;
  close(): void;
}

/** Stamps the turns of one session; nobody else speaks to the model meanwhile. */
export async function openTurnStamper(service: Service, talk: Talk): Promise<TurnStamper> {
  const { runId } = talk;
  const model = watchModel();
  const publishing = await watchPublishing(service, runId);
  const unpauses = await watchUnpauses(service.instance);
  return {
    async stamp() {
      const toDate = Date.now() - performance.now();
      const { posted, ...seen } = await talk.say();
      const handedOut = handedOutAt(service, runId, talk.turns()) - posted;
      const begun = posted + toDate;
      const { textSeq, ...stored } = await storedMoments(service, runId);
      const absolute = {
        ...stored,
        ...(await signalMoments(runId)),
        ...model.since(begun),
        unpaused: unpauses.since(begun),
        textPublished: publishing.momentOf(textSeq),
      };
      return { ...less(seen, posted), ...less(absolute, begun), handedOut };
    },
    close() {
      model.close();
      publishing.close();
      unpauses.close();
    },
  };
}

function less<Name extends string>(moments: Record<Name, number>, begun: number) {
  const since = Object.entries<number>(moments).map(([name, at]) => [name, at - begun]);
  return Object.fromEntries(since) as Record<Name, number>; // the same names
}
