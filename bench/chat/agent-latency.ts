import type { Target } from '../measure/scenario.ts';
import { openBaselineSession } from './baseline-session.ts';
import { openChatService } from './chat-service.ts';
import { deliveredAt } from './delivery-time.ts';

/** The way of a message's answer: the agent, its spool, the log, the stream. */
export const agentLatency: Target = {
  id: 'T5a',
  title: "a message in the agent's input to first text on the stream, against the same input alone",
  unit: 'ms',
  better: 'less',
  goal: 1.25,
  gate: 1.5,
  async open() {
    const chat = await openChatService('debug');
    const { service, talk } = chat;
    const twin = await openBaselineSession({ model: service.model, dataDir: chat.bareDir });
    return {
      async ours() {
        const { textInSpool, textAtReader } = await talk.say();
        const from = deliveredAt(service, talk.runId, talk.turns());
        return { value: textAtReader - from, also: { toSpool: textInSpool - from } };
      },
      limit: async () => ({ value: await twin.say() }),
      async close() {
        await twin.close();
        await chat.close();
      },
    };
  },
};
