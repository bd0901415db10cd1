import { median } from '../measure/statistics.ts';
import type { Survey } from '../measure/survey.ts';
import { stepTable } from '../report/step-table.ts';
import { openChatService } from './chat-service.ts';
import { openTurnTracer, type TurnTrace } from './trace-turn.ts';
import { turnTimestamps } from './turn-timestamps.ts';

const warmUps = 2;

/** Duration of each step of a turn, with a running agent and with a paused one. */
export const turnSteps: Survey = {
  id: 'turn-steps',
  title: "a chat message's turn step by step, milliseconds (p50 of all turns)",
  async run({ iterations }) {
    const chat = await openChatService('debug');
    const { service, client } = chat;
    const tracer = await openTurnTracer(service, client);
    const traceTurns = async (before: () => Promise<void>): Promise<TurnTrace[]> => {
      const turns: TurnTrace[] = [];
      while (turns.length < warmUps + iterations) {
        await before();
        turns.push(await tracer.stamp());
      }
      return turns.slice(warmUps);
    };
    try {
      const awake = await traceTurns(() => Promise.resolve());
      const paused = await traceTurns(client.untilPaused);
      const text = [`  awake\n${tableOf(awake)}`, `  after a pause\n${tableOf(paused)}`].join('\n');
      return { text, data: { awake, paused } };
    } finally {
      tracer.close();
      await chat.close();
    }
  },
};

/** Sorted by time. Steps that did not happen are omitted. */
function tableOf(turns: TurnTrace[]): string {
  const medianOf = (name: keyof TurnTrace): number => median(turns.map((turn) => turn[name]));
  const happened = turnTimestamps.filter(({ name }) =>
    turns.every((turn) => !Number.isNaN(turn[name])),
  );
  const inOrder = happened.toSorted((a, b) => medianOf(a.name) - medianOf(b.name));
  return stepTable(inOrder, turns);
}
