import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { installJsonBody } from '../../../api/http/bodies/json-body.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import { limits } from '../../../core/limits.ts';

const { depthMax, valuesMax } = limits.http.json;

function startServer() {
  const app: App = Fastify({ bodyLimit: limits.http.largeBodyMaxBytes });
  onTestFinished(() => app.close());
  app.setErrorHandler(sendError);
  installJsonBody(app);
  app.post('/', async () => ({ data: 1 }));
  return (payload: string | Buffer) =>
    app.inject({
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'application/json' },
      payload,
    });
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const list = (items: number) => `[${Array.from({ length: items }, () => 1).join()}]`;

test.each([
  ['nested to the limit', nested(depthMax), 200],
  ['nested one level deeper', nested(depthMax + 1), 400],
  ['with values up to the limit', list(valuesMax), 200],
  ['with one value more', list(valuesMax + 1), 400],
  ['of brackets in a string', JSON.stringify('[{,'.repeat(valuesMax)), 200],
])('answers a body %s', async (_what, payload, status) => {
  const answer = await startServer()(payload);
  expect(answer.statusCode).toBe(status);
  if (status === 400) expect(answer.json()).toHaveProperty('error.code', 'VALIDATION_ERROR');
});

test.each([
  ['open brackets', Buffer.alloc(limits.http.largeBodyMaxBytes, '[')],
  ['empty arrays', Buffer.alloc(limits.http.largeBodyMaxBytes, '[],')],
])('rejects the largest body of %s without parsing it', async (_what, payload) => {
  const call = startServer();
  const before = process.memoryUsage().rss;
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 5);
  const answer = await call(payload);
  clearInterval(sampling);
  peak = Math.max(peak, process.memoryUsage().rss);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.message).toContain(`${depthMax} levels`);
  expect(peak - before).toBeLessThan(2 * limits.http.largeBodyMaxBytes);
});
