import { expect, test } from 'vitest';
import { createRefusalLog } from '../../../../../worker/egress/model/refusal-log.ts';

function startLog() {
  const lines: unknown[] = [];
  const info = (fields: object, event?: string): void => void lines.push({ ...fields, event });
  return { lines, log: createRefusalLog({ info }) };
}

test('logs each flag and each kind of field once', () => {
  const { lines, log } = startLog();
  log.flags(['a', 'b', 'a']);
  log.flags(['b']);
  log.field('messages.0.content.3.type');
  log.field('messages.17.content.2.type');
  log.field('messages.17.content.2.source.type');
  expect(lines).toEqual([
    { betaFlag: 'a', event: 'beta_flag_removed' },
    { betaFlag: 'b', event: 'beta_flag_removed' },
    { field: 'messages.*.content.*.type', event: 'model_request_refused' },
    { field: 'messages.*.content.*.source.type', event: 'model_request_refused' },
  ]);
});

test('logs 50 lines and not one more, and shortens a flag', () => {
  const { lines, log } = startLog();
  log.flags(Array.from({ length: 49 }, (_, index) => `flag-${index}`));
  log.flags(['x'.repeat(10_000), 'one-more']);
  log.field('one-more');
  expect(lines).toHaveLength(50);
  expect(JSON.stringify(lines.at(-1)).length).toBeLessThan(200);
});
