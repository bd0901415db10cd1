import type { Target } from '../measure/scenario.ts';
import { openChatService } from './chat-service.ts';
import { deliveredAt } from './delivery-time.ts';
import { openEmptyTurns } from './empty-turns.ts';

/**
 * Time from the request to the message in the agent's input, compared with a bare Temporal signal.
 */
export const signalLatency: Target = {
  id: 'T5b',
  title: "chat POST to the message in the agent's input, against a raw signal to an empty activity",
  unit: 'ms',
  better: 'less',
  goal: 1.3,
  gate: 1.6,
  async open() {
    const chat = await openChatService('debug');
    const { service, client } = chat;
    const empty = await openEmptyTurns();
    return {
      async ours() {
        const { posted, answered } = await client.say();
        const value = deliveredAt(service, client.runId, client.turns()) - posted;
        return { value, also: { answered: answered - posted } };
      },
      limit: async () => ({ value: await empty.pass() }),
      async close() {
        await empty.close();
        await chat.close();
      },
    };
  },
};
