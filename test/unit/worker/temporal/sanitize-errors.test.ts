import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { sanitizeErrors } from '../../../../worker/temporal/sanitize-errors.ts';

const lines: string[] = [];
const interceptor = sanitizeErrors({
  logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
  runLogContext: async (runId) => ({ runId, requestId: 'q-1' }),
});

/** How an activity that throws this error fails. */
async function failureOf(thrown: Error): Promise<unknown> {
  const info = { activityType: 'stopSandbox' };
  const env = new MockActivityEnvironment(info, {
    logger: new DefaultLogger('ERROR'),
    interceptors: [interceptor],
  });
  const stopSandbox = (_input: object): Promise<never> => Promise.reject(thrown);
  const running = env.run(stopSandbox, { runId: 'r', generation: 1, graceMs: 0 });
  return running.catch((error: unknown) => error);
}

test('an error does not contain the message of a library, which is logged instead', async () => {
  const failure = await failureOf(
    new TypeError('connection to postgres://user:canary@host failed'),
  );
  expect(failure).toMatchObject({ type: 'TypeError', nonRetryable: false });
  expect(JSON.stringify(failure)).not.toContain('canary');
  expect(String(failure)).not.toContain('canary');
  expect((failure as Error).cause).toBeUndefined();
  expect(lines.splice(0).map((line) => JSON.parse(line) as object)).toMatchObject([
    { msg: 'activity_failed', activity: 'stopSandbox', runId: 'r', requestId: 'q-1' },
  ]);
});

test.each([
  ApplicationFailure.nonRetryable('no such image', 'ContainerStartFailed'),
  new CancelledFailure('the worker shuts down'),
])('a failure with our own wording passes unchanged: $message', async (thrown) => {
  expect(await failureOf(thrown)).toBe(thrown);
  expect(lines).toEqual([]);
});
