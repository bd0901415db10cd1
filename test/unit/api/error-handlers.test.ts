import { Writable } from 'node:stream';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { expect, test } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import { createLogger } from '../../../config/logger.ts';

/** The answer where a handler throws this, and what is logged of it. */
async function answered(error: Error) {
  const told: { level: string; msg: string }[] = [];
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      told.push(JSON.parse(String(line)) as (typeof told)[number]);
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
  return { statusCode, body, headers, told: told.map(({ level, msg }) => [level, msg]) };
}

const coded = (code: string) => Object.assign(new Error('secret words'), { code });

test.each([
  ['a port that nobody listens on', coded('ECONNREFUSED')],
  ['a machine that is not there', coded('EHOSTUNREACH')],
  ['a name that nobody has', coded('ENOTFOUND')],
  ['a name that nobody can look up', coded('EAI_AGAIN')],
  ['a Postgres that shuts down', coded('57P01')],
  ['a lock that is not let go of', coded('55P03')],
  ['a statement that took too long', coded('57014')],
  ['a pool without a free place', new Error('timeout exceeded when trying to connect')],
  ['a Postgres that falls silent', new Error('Query read timeout')],
  [
    'a connection that was lost between two statements',
    new Error('Client has encountered a connection error and is not queryable'),
  ],
])('%s is trouble that passes: 503', async (_what, error) => {
  const { statusCode, body, headers, told } = await answered(error);
  expect(headers['retry-after']).toBe('2');
  expect([statusCode, body]).toEqual([503, expect.stringContaining('UPSTREAM_UNAVAILABLE')]);
  expect(told).toEqual([['warn', 'dependency_error']]);
  expect(body).not.toContain(error.message);
});

test.each([
  ['a statement that is wrong', coded('42601')],
  ['a file that is missing', coded('ENOENT')],
  ['what nobody foresaw', new Error('secret words')],
])('%s is a failure of the service: 500', async (_what, error) => {
  const { statusCode, body, told } = await answered(error);
  expect([statusCode, body]).toEqual([500, expect.stringContaining('INTERNAL_ERROR')]);
  expect(told).toEqual([['error', 'request_failed']]);
  expect(body).not.toContain('secret words');
});

test('a refusal that was decided on is told of in the line of its request alone', async () => {
  for (const code of ['UPSTREAM_UNAVAILABLE', 'CONCURRENT_LIMIT', 'NOT_FOUND'] as const) {
    const { statusCode, told } = await answered(new ApiError(code, 'Not now.'));
    expect([statusCode, told]).toEqual([new ApiError(code, '').statusCode, []]);
  }
});
