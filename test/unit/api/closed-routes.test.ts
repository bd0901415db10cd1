import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { authenticate } from '../../../api/auth/authenticate.ts';
import { forAnyone } from '../../../api/auth/callers.ts';
import { sendError } from '../../../api/http/error-handlers.ts';

const everyCredential = [
  {},
  { authorization: 'Bearer frs_key' },
  { cookie: 'flowrun_operator=session', origin: 'https://runs.example.test' },
];

test('a route that declares no caller is closed to all of them', async () => {
  const app: App = Fastify();
  const accept = async () => {
    throw new Error('no credential may be looked up');
  };
  authenticate(app, {
    identifyKey: accept,
    identifyOperator: accept,
    findFlow: accept,
    publicUrl: 'https://runs.example.test',
  });
  app.setErrorHandler(sendError);
  app.get('/undeclared', async () => 'open');
  app.get('/empty', { config: { callers: [] } }, async () => 'open');
  app.get('/anyone', { config: forAnyone }, async () => 'open');
  for (const headers of everyCredential) {
    for (const url of ['/undeclared', '/empty']) {
      const answer = await app.inject({ url, headers });
      expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'UNAUTHORIZED']);
    }
    expect((await app.inject({ url: '/anyone', headers })).body).toBe('open');
  }
  await app.close();
});
