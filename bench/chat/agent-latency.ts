import type { Target } from '../measure/scenario.ts';
import { openBaselineSession } from './baseline-session.ts';
import { openChatService } from './chat-service.ts';
import { deliveredAt } from './delivery-time.ts';

/**
 * Time from a message in the agent's input to the first text at a reader: agent, spool, log,
 * stream.
 */
export const agentLatency: Target = {
  id: 'T5a',
  title: "a message in the agent's input to first text on the stream, against the same input alone",
  unit: 'ms',
  better: 'less',
  goal: 1.25,
  gate: 1.5,
  async open() {
    const chat = await openChatService('debug');
    const { service, client } = chat;
    const baseline = await openBaselineSession({ model: service.model, dataDir: chat.bareDir });
    return {
      async ours() {
        const { textInSpool, textAtReader } = await client.say();
        const from = deliveredAt(service, client.runId, client.turns());
        return { value: textAtReader - from, also: { toSpool: textInSpool - from } };
      },
      limit: async () => ({ value: await baseline.say() }),
      async close() {
        await baseline.close();
        await chat.close();
      },
    };
  },
};
