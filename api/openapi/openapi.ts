import { readFileSync } from 'node:fs';
import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import { noQuery } from '../runs/run-schema.ts';

/**
 * Serves the OpenAPI document with this service's URL. `npm run describe` generates it from the
 * schemas of the routes, because that takes a process of the API as long as the rest of its start.
 */
export function openapi(app: App, publicUrl: string): void {
  const file = new URL('../openapi.json', import.meta.url);
  const generated = JSON.parse(readFileSync(file, 'utf8')) as object; // written by `npm run describe`
  const config = forAnyone;
  const schema = { hide: true, querystring: noQuery };
  // The document is the same for every caller, so it is serialized once, and in memory once.
  const document = Buffer.from(JSON.stringify({ ...generated, servers: [{ url: publicUrl }] }));
  app.get('/api/v1/openapi.json', { config, schema }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(document),
  );
}
