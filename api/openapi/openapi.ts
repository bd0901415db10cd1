import type { App } from '../app-types.ts';
import { noQuery } from '../runs/run-schema.ts';

/** The description of this interface, made from the schemas that its routes check with. */
export function openapi(app: App): void {
  const config = { isPublic: true } as const;
  const schema = { hide: true, querystring: noQuery };
  let text = '';
  // It is the same for everybody, so it is written once.
  app.addHook('onReady', async () => {
    text = JSON.stringify(app.swagger());
  });
  app.get('/api/v1/openapi.json', { config, schema }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(text),
  );
}
