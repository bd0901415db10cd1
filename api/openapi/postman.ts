import { readFileSync } from 'node:fs';
import type { App } from '../app-types.ts';
import { noQuery } from '../runs/run-schema.ts';

interface Collection {
  variable: { key: string; value: string }[];
}

/** The collection that is made from the description; it points to this service. */
export function postman(app: App, publicUrl: string): void {
  const file = new URL('../postman.json', import.meta.url);
  const collection = JSON.parse(readFileSync(file, 'utf8')) as Collection; // made by `npm run describe`
  const variable = collection.variable.map(({ key, value }) => ({
    key,
    value: key === 'baseUrl' ? publicUrl : value,
  }));
  const config = { isPublic: true } as const;
  const schema = { hide: true, querystring: noQuery };
  const text = JSON.stringify({ ...collection, variable });
  app.get('/api/v1/postman.json', { config, schema }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(text),
  );
}
