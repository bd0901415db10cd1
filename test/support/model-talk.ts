import type { Service } from './service.ts';

interface Talk {
  messages: unknown[];
  tools?: unknown[];
}

/**
 * The first conversation that the model received after so many requests. The agent's other requests
 * offer no tools.
 */
export function firstTalkSince({ model }: Pick<Service, 'model'>, count: number): string {
  const bodies = model
    .requests()
    .slice(count)
    .map(({ body }) => body as Talk); // the agent's own format
  return JSON.stringify(bodies.find(({ tools }) => tools?.length)?.messages);
}
