import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { openBaselineSession } from './baseline-session.ts';
import type { ChatClient } from './chat-client.ts';
import { openChatService } from './chat-service.ts';

/** Both halves of a turn together, as whoever writes the message feels it. */
export const turnLatency: Target = {
  id: 'T5',
  title: 'chat POST to first text on the stream, against a message written into a running agent',
  unit: 'ms',
  better: 'less',
  goal: 1.8,
  gate: 2.2,
  async open() {
    const chat = await openChatService();
    const twin = await openBaselineSession({ model: chat.service.model, dataDir: chat.bareDir });
    return {
      ours: () => sampleOf(chat.talk),
      limit: async () => ({ value: await twin.say() }),
      async close() {
        await twin.close();
        await chat.close();
      },
    };
  },
};

/**
 * Both sides find their agent paused: the service has done it by itself, some seconds after the last
 * turn. Two sessions in turns, so that one rests while the other is measured.
 */
export const pausedTurnLatency: Target = {
  id: 'T5-paused',
  title: 'the same after a pause, against a message to an agent that is woken up for it',
  unit: 'ms',
  better: 'less',
  goal: 1.6,
  gate: 1.9,
  open: openPaused,
};

async function openPaused(): Promise<Scenario> {
  const chat = await openChatService();
  const twin = await openBaselineSession({ model: chat.service.model, dataDir: chat.bareDir });
  const talks = [chat.talk, await chat.anotherTalk()];
  return {
    async ours() {
      const talk = talks.shift() ?? chat.talk;
      talks.push(talk);
      await talk.untilPaused();
      return sampleOf(talk);
    },
    limit: async () => ({ value: await twin.sayPaused() }),
    async close() {
      await twin.close();
      await chat.close();
    },
  };
}

async function sampleOf(talk: ChatClient): Promise<Sample> {
  const { posted, answered, textAtReader } = await talk.say();
  return { value: textAtReader - posted, also: { answered: answered - posted } };
}
