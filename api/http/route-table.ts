import type { FastifyContextConfig, FastifySchema } from 'fastify';
import type { App } from '../app-types.ts';

export interface RouteEntry {
  method: string;
  url: string;
  config: FastifyContextConfig;
  /** Validates the request. */
  schema: FastifySchema;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route, with one entry for each of its methods. */
    routeTable: readonly RouteEntry[];
  }
}

/** Call before the routes are registered. */
export function installRouteTable(app: App): void {
  const entries: RouteEntry[] = [];
  app.decorate('routeTable', entries);
  app.addHook('onRoute', ({ method, url, config = {}, schema = {} }) => {
    entries.push(...[method].flat().map((each) => ({ method: each, url, config, schema })));
  });
}
