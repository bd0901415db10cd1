import type { Service } from './service.ts';

interface Talk {
  messages: unknown[];
  tools?: unknown[];
}

/**
 * The conversation as the model was told it first, after so many requests. What the agent asks beside
 * the conversation offers no tools.
 */
export function firstTalkSince({ model }: Pick<Service, 'model'>, count: number): string {
  const bodies = model
    .requests()
    .slice(count)
    .map(({ body }) => body as Talk); // the agent's own
  return JSON.stringify(bodies.find(({ tools }) => tools?.length)?.messages);
}
