import type { FastifyContextConfig, FastifySchema } from 'fastify';
import type { App } from '../app-types.ts';

export interface RouteEntry {
  method: string;
  url: string;
  config: FastifyContextConfig;
  /** What it checks requests with. */
  schema: FastifySchema;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route that there is, one entry for each of its methods. */
    routeTable: readonly RouteEntry[];
  }
}

/** Has to be told of the routes, so it comes before them. */
export function routeTable(app: App): void {
  const entries: RouteEntry[] = [];
  app.decorate('routeTable', entries);
  app.addHook('onRoute', ({ method, url, config = {}, schema = {} }) => {
    entries.push(...[method].flat().map((each) => ({ method: each, url, config, schema })));
  });
}
