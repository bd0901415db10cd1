import { expect } from 'vitest';
import type { Answer, ApiClient } from './api-client.ts';
import { scriptForBoth } from './prompts.ts';

const question = (text: string, multiSelect = false) => ({
  question: text,
  header: 'Paint',
  multiSelect,
  options: [
    { label: 'Red', description: 'as blood' },
    { label: 'Blue', description: 'as the sky' },
  ],
});

export const colour = question('Which colour?');
export const rooms = question('Which rooms?', true);
export const size = question('How large?');

/**
 * A prompt that makes either agent ask the same questions: the scripted one by its steps, the real
 * one by the model's tool calls.
 */
export function asking(...calls: object[][]): string {
  const inputs = calls.map((questions) => ({ questions }));
  const agent = [{ asks: inputs }, { say: 'Done.' }];
  const tools = inputs.map((input) => ({ tool: 'AskUserQuestion', input }));
  const model = [{ tools }, { text: 'Done.' }];
  return scriptForBoth(agent, model);
}

interface Pending {
  interactionId: string;
  toolName: string;
  questions: { question: string }[];
}

/** Reads and answers the questions of a run. */
interface Questions {
  pending(runId: string): Promise<Pending[]>;
  untilAsked(runId: string, count?: number): Promise<Pending[]>;
  answer(runId: string, interactionId: string, answers: object): Promise<Answer>;
}

const pollOptions = { timeout: 60_000, interval: 100 };

/** `service` is called at each use, so it may start later. */
export function questionsOf(service: () => ApiClient): Questions {
  async function pending(runId: string): Promise<Pending[]> {
    const { data } = await service().call<{ interactions: Pending[] }>('GET', `/runs/${runId}`);
    return data.interactions;
  }
  return {
    pending,
    async untilAsked(runId, count = 1) {
      await expect.poll(async () => (await pending(runId)).length, pollOptions).toBe(count);
      return pending(runId);
    },
    answer: (runId, interactionId, answers) =>
      service().call('POST', `/runs/${runId}/interactions/${interactionId}`, { body: { answers } }),
  };
}
