import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { openBaselineSession } from './baseline-session.ts';
import type { ChatClient } from './chat-client.ts';
import { openChatService } from './chat-service.ts';

/** The latency of a whole turn, as the author of the message experiences it. */
export const turnLatency: Target = {
  id: 'T5',
  title: 'chat POST to first text on the stream, against a message written into a running agent',
  unit: 'ms',
  better: 'less',
  goal: 1.8,
  gate: 2.2,
  async open() {
    const chat = await openChatService();
    const baseline = await openBaselineSession({
      model: chat.service.model,
      dataDir: chat.bareDir,
    });
    return {
      ours: () => sampleOf(chat.client),
      limit: async () => ({ value: await baseline.say() }),
      async close() {
        await baseline.close();
        await chat.close();
      },
    };
  },
};

/**
 * Both sides start with a paused agent. The service pauses its sandbox some seconds after a turn.
 * Two sessions alternate, so that one becomes idle while the other is measured.
 */
export const pausedTurnLatency: Target = {
  id: 'T5-paused',
  title: 'the same after a pause, against a message to a paused agent that is resumed for it',
  unit: 'ms',
  better: 'less',
  goal: 1.6,
  gate: 1.9,
  open: openPaused,
};

async function openPaused(): Promise<Scenario> {
  const chat = await openChatService();
  const baseline = await openBaselineSession({ model: chat.service.model, dataDir: chat.bareDir });
  const clients = [chat.client, await chat.openClient()];
  return {
    async ours() {
      const client = clients.shift() ?? chat.client;
      clients.push(client);
      await client.untilPaused();
      return sampleOf(client);
    },
    limit: async () => ({ value: await baseline.sayPaused() }),
    async close() {
      await baseline.close();
      await chat.close();
    },
  };
}

async function sampleOf(client: ChatClient): Promise<Sample> {
  const { posted, answered, textAtReader } = await client.say();
  return { value: textAtReader - posted, also: { answered: answered - posted } };
}
