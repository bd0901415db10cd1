import { median } from '../measure/statistics.ts';
import type { Survey } from '../measure/survey.ts';
import { stepTable } from '../report/step-table.ts';
import { openChatService } from './chat-service.ts';
import { openTurnTracer, type TurnTrace } from './trace-turn.ts';
import { turnTimestamps } from './turn-timestamps.ts';

const warmUps = 2;

/** Where the time of a turn goes, with an agent that is awake and with one that was paused. */
export const turnSteps: Survey = {
  id: 'turn-steps',
  title: "a chat message's turn step by step, milliseconds (p50 of all turns)",
  async run({ iterations }) {
    const chat = await openChatService('debug');
    const { service, talk } = chat;
    const stamper = await openTurnTracer(service, talk);
    const stampTurns = async (before: () => Promise<void>): Promise<TurnTrace[]> => {
      const turns: TurnTrace[] = [];
      while (turns.length < warmUps + iterations) {
        await before();
        turns.push(await stamper.stamp());
      }
      return turns.slice(warmUps);
    };
    try {
      const awake = await stampTurns(() => Promise.resolve());
      const paused = await stampTurns(talk.untilPaused);
      const text = [`  awake\n${tableOf(awake)}`, `  after a pause\n${tableOf(paused)}`].join('\n');
      return { text, data: { awake, paused } };
    } finally {
      stamper.close();
      await chat.close();
    }
  },
};

/** In the order in which they came; without what did not happen. */
function tableOf(turns: TurnTrace[]): string {
  const usual = (name: keyof TurnTrace): number => median(turns.map((turn) => turn[name]));
  const happened = turnTimestamps.filter(({ name }) =>
    turns.every((turn) => !Number.isNaN(turn[name])),
  );
  const inOrder = happened.toSorted((a, b) => usual(a.name) - usual(b.name));
  return stepTable(inOrder, turns);
}
