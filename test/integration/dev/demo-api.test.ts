// The demo right after a restore, which the service has not reconciled yet.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createApi } from '../../../dev/demo/api.ts';
import { SetupError } from '../../../dev/lib/setup-error.ts';
import { useTenant } from '../api/use-api.ts';

const { fixture, api, tenant } = useTenant();
const query = (text: string) => fixture.database.pool.query(text);

let output = '';
let answers: { status: number; at: number }[] = [];
beforeEach(() => {
  output = '';
  answers = [];
  const { fetch } = globalThis;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...asked) => {
    const at = performance.now();
    const answer = await fetch(...asked);
    answers.push({ status: answer.status, at });
    return answer;
  });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const trigger = (withinMs?: number) =>
  createApi(api.url, tenant.key, withinMs).call('POST', `/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Go', idempotencyKey: `demo-${withinMs}` },
  });

test('retries a 503 after Retry-After, and gives up after the timeout', async () => {
  await query('select record_restore(db_clock())');
  const refused = await trigger(1_000).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SetupError);
  expect(String(refused)).toMatch(
    /was unavailable for 1 s: .* lost this request in a restore.*\n.*doctor/,
  );
  expect(output).toBe('');

  answers = [];
  const waiting = trigger();
  await expect.poll(() => answers).toHaveLength(2);
  expect(output).toMatch(/^ {2}503 .*lost this request in a restore.*\n {2}\(retrying for/);
  await query('update restores set reconciled_at = db_clock()');
  expect((await waiting).status).toBe(201);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 201]);
  const waits = answers.slice(1).map(({ at }, n) => at - (answers[n]?.at ?? at));
  for (const waitedMs of waits) expect(waitedMs).toBeGreaterThanOrEqual(4_900);
  expect(output.match(/503/g)).toHaveLength(1);
}, 60_000);

test('throws any other error at once', async () => {
  const call = createApi(api.url, tenant.key).call('GET', '/api/v1/runs/none');
  await expect(call).rejects.toThrow(/returned 404: .*NOT_FOUND/);
  expect(output).toBe('');
});
