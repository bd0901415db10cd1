import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import { noQuery } from '../runs/run-schema.ts';

/** Serves the OpenAPI document, which is generated from the schemas of the routes. */
export function openapi(app: App): void {
  const config = forAnyone;
  const schema = { hide: true, querystring: noQuery };
  let document = Buffer.alloc(0);
  // The document is the same for every caller, so it is serialized once, and in memory once.
  app.addHook('onReady', async () => {
    document = Buffer.from(JSON.stringify(app.swagger()));
  });
  app.get('/api/v1/openapi.json', { config, schema }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(document),
  );
}
