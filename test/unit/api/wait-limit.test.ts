import { once } from 'node:events';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { App, Caller } from '../../../api/app-types.ts';
import { installWaitLimit } from '../../../api/auth/wait-limit.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import { limits } from '../../../core/limits.ts';

const { perKey } = limits.http.waits;
const key = { keyId: 'key', projectId: 'project' };

test('a client that disconnects before its request is counted uses nothing of the limit', async () => {
  const app: App = Fastify();
  onTestFinished(() => app.close());
  app.setErrorHandler(sendError);
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, { raw }) => {
    request.caller = { key } as Caller; // the limit reads nothing else
    if (!request.url.startsWith('/leave')) return;
    request.raw.socket.destroy();
    await once(raw, 'close');
  });
  installWaitLimit(app);
  let counted = 0;
  app.post('/leave', async () => {
    counted += 1;
  });
  app.post('/stay', async () => ({ data: 1 }));
  const address = await app.listen({ port: 0 });
  const post = (path: string) => fetch(`${address}${path}?wait=1`, { method: 'POST' });

  await Promise.allSettled(Array.from({ length: perKey }, () => post('/leave')));
  await expect.poll(() => counted).toBe(perKey);
  expect((await post('/stay')).status).toBe(200);
});
