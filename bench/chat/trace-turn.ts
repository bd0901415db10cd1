import type { Service } from '../../test/support/service.ts';
import type { ChatClient } from './chat-client.ts';
import { deliveredAt } from './delivery-time.ts';
import { watchModel } from './model-timestamps.ts';
import { watchPublishing } from './publish-timestamps.ts';
import { signalTimestamps } from './signal-timestamps.ts';
import { storedTimestamps } from './stored-timestamps.ts';
import type { TurnTimestamp } from './turn-timestamps.ts';
import { watchUnpauses } from './unpause-timestamps.ts';

/** Milliseconds since the message was posted. */
export type TurnTrace = Record<TurnTimestamp, number>;

interface TurnTracer {
  stamp(): Promise<TurnTrace>;
  close(): void;
}

/** Records the timestamps of one session's turns. No other client may use the model meanwhile. */
export async function openTurnTracer(service: Service, client: ChatClient): Promise<TurnTracer> {
  const { runId } = client;
  const model = watchModel();
  const publishing = await watchPublishing(service, runId);
  const unpauses = await watchUnpauses(service.instance);
  return {
    async stamp() {
      const toDate = Date.now() - performance.now();
      const { posted, ...seen } = await client.say();
      const handedOut = deliveredAt(service, runId, client.turns()) - posted;
      const postedAt = posted + toDate;
      const { textSeq, ...stored } = await storedTimestamps(service, runId);
      const absolute = {
        ...stored,
        ...(await signalTimestamps(runId)),
        ...model.since(postedAt),
        unpaused: unpauses.since(postedAt),
        textPublished: publishing.momentOf(textSeq),
      };
      return { ...less(seen, posted), ...less(absolute, postedAt), handedOut };
    },
    close() {
      model.close();
      publishing.close();
      unpauses.close();
    },
  };
}

function less<Name extends string>(moments: Record<Name, number>, postedAt: number) {
  const since = Object.entries<number>(moments).map(([name, at]) => [name, at - postedAt]);
  return Object.fromEntries(since) as Record<Name, number>; // the names are unchanged
}
