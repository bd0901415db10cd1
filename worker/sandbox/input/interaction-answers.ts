import { answerLine, type Refusal, refusalLine } from '../../../core/agent/interaction.ts';
import { type RetryPolicy } from '../../../lib/async/retry.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { InteractionStore } from '../../../systems/postgres/runs/interaction-store.ts';
import type { SandboxContext } from '../context.ts';
import type { Input } from './input-queue.ts';

/**
 * What an agent is told that waits for somebody. It is told again by the next life of this host,
 * until the agent has said that it heard it: one that knows already takes no notice.
 */
export interface Replies {
  refuse(refusals: Refusal[]): void;
  /** Every answer that is there. */
  deliver(): Promise<void>;
}

export function createReplies({
  runId,
  input,
  interactions,
}: {
  runId: string;
  input: Pick<Input, 'push'>;
  interactions: Pick<InteractionStore, 'open'>;
}): Replies {
  const told = new Set<string>();

  function tell(id: string, line: string): void {
    if (told.has(id)) return;
    told.add(id);
    input.push(line);
  }

  return {
    refuse(refusals) {
      for (const refusal of refusals) tell(refusal.requestId, refusalLine(refusal));
    },
    async deliver() {
      for (const { answers, ...interaction } of await interactions.open(runId)) {
        if (answers !== null) tell(interaction.interactionId, answerLine(interaction, answers));
      }
    },
  };
}

const checkEveryMs = 5_000;

/**
 * Whoever answers says so to this host, which hands it over at once. This finds what nobody said, or
 * what was said to an earlier life of this process.
 */
export async function keepReplying(
  { turns, replies }: Pick<SandboxContext, 'turns' | 'replies'>,
  { signal, onFailure }: RetryPolicy,
): Promise<void> {
  replies.refuse(turns.memory().refusals);
  while (!signal.aborted) {
    if (turns.isWaiting()) await replies.deliver().catch((error: unknown) => onFailure(error, 1));
    await sleep(checkEveryMs, signal);
  }
}
