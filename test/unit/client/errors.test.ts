import { expect, test } from 'vitest';
import { errorStatuses } from '../../../api/errors.ts';
import {
  BudgetReached,
  ConnectionFailed,
  errorClasses,
  FlowrunError,
  isFlowrunError,
} from '../../../client/http/errors.ts';
import { responseError } from '../../../client/http/response-error.ts';
import { retryDelayMs } from '../../../client/http/retry-delay.ts';

const envelope = (code: string, more: object = {}) =>
  JSON.stringify({ error: { code, message: 'No.', ...more } });

test('has a class for each code of the service, and for no other', () => {
  expect(Object.keys(errorClasses).sort()).toEqual(Object.keys(errorStatuses).sort());
  const classes = Object.values(errorClasses);
  expect(new Set(classes).size).toBe(classes.length);
});

test.each(Object.entries(errorStatuses))('makes an error of %s', async (code, [status]) => {
  const headers = { 'x-request-id': 'r1', 'retry-after': '7' };
  const body = envelope(code, { limit: 10, current: 11 });
  const error = await responseError(new Response(body, { status, headers }));
  expect(error).toBeInstanceOf(errorClasses[code]);
  const facts = { code, status, requestId: 'r1', retryAfterSeconds: 7, limit: 10, current: 11 };
  expect(error).toMatchObject({ ...facts, message: 'No.' });
});

test.each(['project', 'flow', 'key', undefined, 'organization'])(
  'an error of a reached budget names its owner: %s',
  async (budget) => {
    const error = await responseError(new Response(envelope('BUDGET_REACHED', { budget })));
    expect(error).toBeInstanceOf(BudgetReached);
    expect(error).toMatchObject({ budget: budget === 'organization' ? undefined : budget });
  },
);

test.each([
  ['constructor', envelope('constructor')],
  ['HTTP_502', '<html>Bad gateway</html>'],
  ['HTTP_502', '{"error":"no"}'],
  ['A_LATER_CODE', envelope('A_LATER_CODE')],
])('makes a plain error of %s', async (code, body) => {
  const error = await responseError(new Response(body, { status: 502 }));
  expect(Object.getPrototypeOf(error)).toBe(FlowrunError.prototype);
  expect(error).toMatchObject({ code, status: 502, limit: undefined });
});

test('recognizes errors of another copy of the package', () => {
  const other = Object.assign(new Error('No.'), { code: 'NOT_FOUND', requestId: null });
  expect(isFlowrunError(other)).toBe(true);
  expect(isFlowrunError(other, 'NOT_FOUND')).toBe(true);
  expect(isFlowrunError(other, 'RATE_LIMITED')).toBe(false);
  expect(isFlowrunError(Object.assign(new Error('No.'), { code: 'ENOENT' }))).toBe(false);
});

interface Failure {
  status: number;
  code?: string;
  retryAfterSeconds?: number;
}

const failed = ({ status, code = 'X', ...more }: Failure) =>
  new FlowrunError({ code, message: 'No.', status, ...more });

const delaysOf = (error: FlowrunError, isRepeatable: boolean): (number | null)[] =>
  [1, 2, 3, 4].map((attempt) => retryDelayMs({ attempt, error, isRepeatable }));

test('waits 1, 2 and 4 seconds and gives up after the fourth attempt', () => {
  const waits = [1_000, 2_000, 4_000, null];
  expect(delaysOf(failed({ status: 500 }), true)).toEqual(waits);
  expect(delaysOf(new ConnectionFailed('No.'), true)).toEqual(waits);
  expect(delaysOf(failed({ status: 429, code: 'CONCURRENT_LIMIT' }), false)).toEqual(waits);
});

test('waits for the time in Retry-After; without it, repeats immediately after 503', () => {
  const limited = failed({ status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 9 });
  expect(delaysOf(limited, true)).toEqual([9_000, 9_000, 9_000, null]);
  expect(delaysOf(failed({ status: 503 }), true)).toEqual([0, 0, 0, null]);
  expect(delaysOf(failed({ status: 503, retryAfterSeconds: 2 }), true)[0]).toBe(2_000);
});

test.each([
  failed({ status: 429, code: 'MONTHLY_QUOTA' }),
  failed({ status: 429, code: 'SESSION_LIMIT' }),
  failed({ status: 400, code: 'VALIDATION_ERROR' }),
  failed({ status: 401, code: 'UNAUTHORIZED' }),
  failed({ status: 404, code: 'NOT_FOUND' }),
  failed({ status: 409, code: 'RUNNER_OFFLINE' }),
])('does not repeat after $code', (error) => {
  expect(delaysOf(error, true)).toEqual([null, null, null, null]);
});

test('repeats a request that may have an effect only if it was never sent', () => {
  const reason = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
  const refused = new ConnectionFailed('No.', reason('ECONNREFUSED'));
  const cut = new ConnectionFailed('No.', reason('UND_ERR_SOCKET'));
  expect(delaysOf(refused, false)[0]).toBe(1_000);
  expect(delaysOf(cut, false)).toEqual([null, null, null, null]);
  expect(delaysOf(failed({ status: 503 }), false)[0]).toBeNull();
});
