import { Writable } from 'node:stream';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { expect, test } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import { createLogger } from '../../../config/logger.ts';

/** The response to a request whose handler throws this error, and its log lines. */
async function responseTo(error: Error) {
  const logged: { level: string; msg: string }[] = [];
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      logged.push(JSON.parse(String(line)) as (typeof logged)[number]);
      done();
    },
  });
  const loggerInstance: FastifyBaseLogger = createLogger(
    { level: 'info', name: 'test' },
    destination,
  );
  const logController = new LogController({ disableRequestLogging: true });
  const app = Fastify({ loggerInstance, logController });
  app.decorateRequest('errorCode', null);
  app.setErrorHandler(sendError);
  app.get('/', async () => Promise.reject(error));
  const { statusCode, body, headers } = await app.inject('/');
  return { statusCode, body, headers, logged: logged.map(({ level, msg }) => [level, msg]) };
}

const coded = (code: string) => Object.assign(new Error('secret words'), { code });

test.each([
  ['a port on which nothing listens', coded('ECONNREFUSED')],
  ['an unreachable host', coded('EHOSTUNREACH')],
  ['an unknown host name', coded('ENOTFOUND')],
  ['a failing name server', coded('EAI_AGAIN')],
  ['a Postgres that shuts down', coded('57P01')],
  ['a lock timeout', coded('55P03')],
  ['a statement timeout', coded('57014')],
  ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
  ['a Postgres that does not respond', new Error('Query read timeout')],
  [
    'a connection that was lost between two statements',
    new Error('Client has encountered a connection error and is not queryable'),
  ],
])('%s is a temporary problem: 503', async (_what, error) => {
  const { statusCode, body, headers, logged } = await responseTo(error);
  expect(headers['retry-after']).toBe('2');
  expect([statusCode, body]).toEqual([503, expect.stringContaining('UPSTREAM_UNAVAILABLE')]);
  expect(logged).toEqual([['warn', 'dependency_error']]);
  expect(body).not.toContain(error.message);
});

test.each([
  ['an invalid statement', coded('42601')],
  ['a missing file', coded('ENOENT')],
  ['an unexpected error', new Error('secret words')],
])('%s is a failure of the service: 500', async (_what, error) => {
  const { statusCode, body, logged } = await responseTo(error);
  expect([statusCode, body]).toEqual([500, expect.stringContaining('INTERNAL_ERROR')]);
  expect(logged).toEqual([['error', 'request_failed']]);
  expect(body).not.toContain('secret words');
});

test('an error response that a handler chose is logged only in the line of its request', async () => {
  for (const code of ['UPSTREAM_UNAVAILABLE', 'CONCURRENT_LIMIT', 'NOT_FOUND'] as const) {
    const { statusCode, logged } = await responseTo(new ApiError(code, 'Not now.'));
    expect([statusCode, logged]).toEqual([new ApiError(code, '').statusCode, []]);
  }
});
