import { expect, test } from 'vitest';
import { createRefusalLog } from '../../../../../worker/egress/model/refusal-log.ts';

function startLog() {
  const lines: unknown[] = [];
  const info = (fields: object, event?: string): void => void lines.push({ ...fields, event });
  return { lines, log: createRefusalLog({ info }) };
}

const forbidden = (field: string) => {
  const message = `${field}: "${field}" is not permitted`;
  return { status: 400, type: 'invalid_request_error', message, field } as const;
};

test('logs each flag, each kind of field and each reason once, and no text of the request', () => {
  const { lines, log } = startLog();
  log.flags(['a', 'b', 'a']);
  log.flags(['b']);
  log.call(forbidden('messages.0.content.3.type'));
  log.call(forbidden('messages.17.content.2.type'));
  log.call(forbidden('messages.17.content.2.source.type'));
  const spent = { status: 402, type: 'billing_error', message: 'too expensive' } as const;
  log.call(spent);
  log.call(spent);
  expect(lines).toEqual([
    { betaFlag: 'a', event: 'beta_flag_removed' },
    { betaFlag: 'b', event: 'beta_flag_removed' },
    { status: 400, field: 'messages.*.content.*.type', event: 'model_call_refused' },
    { status: 400, field: 'messages.*.content.*.source.type', event: 'model_call_refused' },
    { status: 402, reason: 'too expensive', event: 'model_call_refused' },
  ]);
});

test('logs 50 flags and 50 refused calls and not one more, and shortens a flag', () => {
  const { lines, log } = startLog();
  log.flags(Array.from({ length: 49 }, (_, index) => `flag-${index}`));
  log.flags(['x'.repeat(10_000), 'one-more']);
  expect(lines).toHaveLength(50);
  expect(JSON.stringify(lines.at(-1)).length).toBeLessThan(200);
  for (let n = 0; n < 51; n += 1) log.call(forbidden(`field-${'x'.repeat(n)}`));
  expect(lines).toHaveLength(100);
});
