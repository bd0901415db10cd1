import { openPublishing } from '../latency/publishing.ts';
import type { Target } from '../measure/scenario.ts';
import { openChatService } from './chat-service.ts';

export const turnEnd: Target = {
  id: 'T15',
  title: "the agent's result in its spool to turn_end at a reader, against PUBLISH to a subscriber",
  unit: 'ms',
  better: 'less',
  goal: 5,
  gate: 10,
  async open() {
    const chat = await openChatService();
    const publishing = await openPublishing();
    return {
      async ours() {
        const { resultInSpool, endAtReader } = await chat.client.say();
        return { value: endAtReader - resultInSpool };
      },
      limit: publishing.time,
      async close() {
        publishing.close();
        await chat.close();
      },
    };
  },
};
