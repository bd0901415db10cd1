import { expect, test } from 'vitest';
import { lacksPrompt, scheduleError } from '../../../core/flows/schedule.ts';

const faultOf = (cron: string, timezone = 'UTC') =>
  scheduleError({ cron, timezone })?.field ?? null;

test.each([
  ['* * * * *'],
  ['0 0 1 1 0'],
  ['59 23 31 12 6'],
  ['0 0 29 2 *'],
  ['0 0 31 4-12/2 *'],
  ['0 0 29 2 MON'],
  ['0 0 */30 2 *'],
  ['*/5 0-23/2 1,15,28-31 JAN-mar,12 MON-FRI'],
])('accepts %s', (cron) => {
  expect(faultOf(cron)).toBeNull();
});

test.each([
  [''],
  ['* * * *'],
  ['* * * * * *'],
  [' * * * * *'],
  ['60 * * * *'],
  ['* 24 * * *'],
  ['* * 0 * *'],
  ['* * 32 * *'],
  ['* * * 13 *'],
  ['* * * * 7'],
  ['5-1 * * * *'],
  ['*/0 * * * *'],
  ['5/2 * * * *'],
  ['1,,2 * * * *'],
  ['* * * MON *'],
  ['30 2 30 2 *'],
  ['0 0 30 2 MON'],
  ['0 0 31 4,JUN,9-11/2 *'],
  ['@daily'],
  ['* * * * *\n'],
  ['* * * * *\0'],
  ['-1 * * * *'],
  [`${'1,'.repeat(100)}1 * * * *`],
])('rejects %j', (cron) => {
  expect(faultOf(cron)).toBe('cron');
});

test('a time zone must be a known name', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) {
    expect(faultOf('* * * * *', zone)).toBeNull();
  }
  for (const zone of ['', 'Europe/Nowhere', '+01:00', 'Europe/Berlin\0', '../etc/passwd']) {
    expect(faultOf('* * * * *', zone)).toBe('timezone');
  }
});

test('only a schedule needs a prompt', () => {
  const schedule = { cron: '* * * * *', timezone: 'UTC' };
  expect(lacksPrompt({ schedule, prompt: null })).toBe(true);
  expect(lacksPrompt({ schedule, prompt: 'Go' })).toBe(false);
  expect(lacksPrompt({ schedule: null, prompt: null })).toBe(false);
});
