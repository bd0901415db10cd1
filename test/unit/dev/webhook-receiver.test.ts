import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { isGenuine } from '../../../dev/demo/webhook-receiver.ts';

const secret = 'whsec';
const body = '{"runId":"1"}';

function signed(at: number, text = body, by = secret) {
  const v1 = createHmac('sha256', by).update(`${at}.${text}`).digest('hex');
  return { body, signature: `t=${at},v1=${v1}` };
}

const now = () => Math.floor(Date.now() / 1000);

test('a recent signature with the secret over the body is valid', () => {
  expect(isGenuine(signed(now()), secret)).toBe(true);
});

test.each([
  ['made with another secret', () => signed(now(), body, 'other')],
  ['over other bytes', () => signed(now(), `${body} `)],
  ['made ten minutes ago', () => signed(now() - 600)],
  ['that is malformed', () => ({ body, signature: 'undefined' })],
])('a signature %s is rejected', (_what, delivery) => {
  expect(isGenuine(delivery(), secret)).toBe(false);
});
