import { answerLine, type ControlDenial, denialLine } from '../../../core/agent/interaction.ts';
import { type RetryPolicy } from '../../../lib/async/retry.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { InteractionStore } from '../../../systems/postgres/runs/interaction-store.ts';
import type { AgentInputQueue } from './input-queue.ts';
import type { TurnTracker } from './turn-tracker.ts';

/**
 * Delivers answers to an agent's questions. Redelivered after a worker restart until the agent
 * acknowledges them. The agent ignores duplicates.
 */
export interface InteractionAnswers {
  deny(denials: ControlDenial[]): void;
  /** Sends every answer that was not sent yet. */
  deliver(): Promise<void>;
}

export function createInteractionAnswers({
  runId,
  input,
  interactions,
}: {
  runId: string;
  input: Pick<AgentInputQueue, 'push'>;
  interactions: Pick<InteractionStore, 'open'>;
}): InteractionAnswers {
  const sent = new Set<string>();

  function send(id: string, line: string): void {
    if (sent.has(id)) return;
    sent.add(id);
    input.push(line, id);
  }

  return {
    deny(denials) {
      for (const denial of denials) send(denial.requestId, denialLine(denial));
    },
    async deliver() {
      for (const { answers, ...interaction } of await interactions.open(runId)) {
        if (answers !== null) send(interaction.interactionId, answerLine(interaction, answers));
      }
    },
  };
}

const checkEveryMs = 5_000;

/**
 * The API notifies this host of an answer, which is then delivered at once. Polling finds answers
 * whose notification was lost, or was sent to a previous process.
 */
export async function pollAnswers(
  { turns, answers }: { turns: TurnTracker; answers: InteractionAnswers },
  { signal, onFailure }: RetryPolicy,
): Promise<void> {
  answers.deny(turns.agentState().denials);
  while (!signal.aborted) {
    if (turns.isWaiting()) await answers.deliver().catch((error: unknown) => onFailure(error, 1));
    await sleep(checkEveryMs, signal);
  }
}
