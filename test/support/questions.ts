import { expect } from 'vitest';
import type { Answer, ApiClient } from './api-client.ts';

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

/** Both agents ask the same: the scripted one by its steps, the model by a tool. */
export function asking(...calls: object[][]): string {
  const inputs = calls.map((questions) => ({ questions }));
  const agent = [{ asks: inputs }, { say: 'Done.' }];
  const tools = inputs.map((input) => ({ tool: 'AskUserQuestion', input }));
  const model = [{ tools }, { text: 'Done.' }];
  return `@agent ${JSON.stringify(agent)}\n@model ${JSON.stringify(model)}`;
}

interface Pending {
  interactionId: string;
  toolName: string;
  questions: { question: string }[];
}

/** What the client of a run does about its questions. */
interface Questions {
  pending(runId: string): Promise<Pending[]>;
  untilAsked(runId: string, count?: number): Promise<Pending[]>;
  answer(runId: string, interactionId: string, answers: object): Promise<Answer>;
}

const patience = { timeout: 60_000, interval: 100 };

/** Of a service that is there when they are used. */
export function questionsOf(service: () => ApiClient): Questions {
  async function pending(runId: string): Promise<Pending[]> {
    const { data } = await service().call<{ interactions: Pending[] }>('GET', `/runs/${runId}`);
    return data.interactions;
  }
  return {
    pending,
    async untilAsked(runId, count = 1) {
      await expect.poll(async () => (await pending(runId)).length, patience).toBe(count);
      return pending(runId);
    },
    answer: (runId, interactionId, answers) =>
      service().call('POST', `/runs/${runId}/interactions/${interactionId}`, { body: { answers } }),
  };
}
