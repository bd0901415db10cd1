// `verifyWebhook` for requests that have the headers of Standard Webhooks.

import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyWebhook, WebhookRejected } from '../../../client/webhooks/verify.ts';
import { standardWebhookSecretOf } from '../../../lib/standard-webhook-secret.ts';
import { standardVector } from '../../support/standard-webhook-vector.ts';

const { timeSeconds } = standardVector;
const secret = '0123456789abcdef';
const body = '{"runId":"1802be89-b60b-4065-b964-9718d03ae043","status":"sleep"}';
const now = new Date(timeSeconds * 1_000);

const sign = (text: string, key = secret): string =>
  `v1,${createHmac('sha256', key).update(`d1.${timeSeconds}.${text}`).digest('base64')}`;

const headersOf = (signature: string, more: Record<string, string> = {}) => ({
  'webhook-id': 'd1',
  'webhook-timestamp': String(timeSeconds),
  'webhook-signature': signature,
  ...more,
});

const verify = (headers: Record<string, string>, known: string | string[] = secret, at = now) =>
  verifyWebhook({ headers, rawBody: body }, known, { now: at });

const event = { type: 'run.finished', deliveryId: 'd1', data: JSON.parse(body) };

test('accepts the published vector', async () => {
  const { id, signature, body: rawBody } = standardVector;
  const headers = headersOf(signature, { 'webhook-id': id });
  const verified = await verifyWebhook({ headers, rawBody }, standardVector.secret, { now });
  expect(verified).toMatchObject({ type: 'unknown', deliveryId: id, data: JSON.parse(rawBody) });
});

test('accepts the secret in both forms, and reads the event from the body', async () => {
  for (const known of [secret, standardWebhookSecretOf(secret), ['other', secret]])
    expect(await verify(headersOf(sign(body)), known)).toEqual(event);
  const named = headersOf(sign(body), { 'x-service-event': 'run.finished' });
  expect(await verify(named)).toEqual(event);
  const wrong = headersOf(sign(body), { 'x-service-event': 'session.ended' });
  await expect(verify(wrong)).rejects.toThrow('not that of session.ended');
});

test('accepts one of several signatures, and skips those of other versions', async () => {
  const several = `v1a,abc ${sign(body, 'other')} ${sign(body)}`;
  expect(await verify(headersOf(several))).toEqual(event);
});

test('accepts either form if a request has both', async () => {
  const hmac = createHmac('sha256', secret).update(`${timeSeconds}.${body}`).digest('hex');
  const own = {
    'x-service-delivery-id': 'd1',
    'x-service-signature': `t=${timeSeconds},v1=${hmac}`,
  };
  expect(await verify(headersOf(sign(body, 'other'), own))).toEqual(event);
  const replaced = {
    ...own,
    'x-service-signature': own['x-service-signature'].replace('v1', 'v0'),
  };
  expect(await verify(headersOf(sign(body), replaced))).toEqual(event);
});

test('accepts a signature of 300 seconds, and none that is older or from the future', async () => {
  const at = (seconds: number) =>
    verify(headersOf(sign(body)), secret, new Date((timeSeconds + seconds) * 1_000));
  expect(await at(300)).toEqual(event);
  expect(await at(-300)).toEqual(event);
  await expect(at(301)).rejects.toThrow('too old');
  await expect(at(-301)).rejects.toThrow('too old');
});

const good = sign(body);
test.each<[string, Record<string, string>]>([
  ['no ID', headersOf(good, { 'webhook-id': '' })],
  ['another ID', headersOf(good, { 'webhook-id': 'd2' })],
  ['no time', headersOf(good, { 'webhook-timestamp': '' })],
  ['another time', headersOf(good, { 'webhook-timestamp': String(timeSeconds + 1) })],
  ['a time that is no number', headersOf(good, { 'webhook-timestamp': 'now' })],
  ['a time with a fraction', headersOf(good, { 'webhook-timestamp': `${timeSeconds}.0` })],
  ['no signature', headersOf('')],
  ['no version', headersOf(good.slice('v1,'.length))],
  ['another version', headersOf(good.replace('v1', 'v1a'))],
  ['a shortened signature', headersOf(good.slice(0, -4))],
  ['another secret', headersOf(sign(body, 'other'))],
  ['another body', headersOf(sign(`${body} `))],
  ['the form of the other header', headersOf(`t=${timeSeconds},v1=${'0'.repeat(64)}`)],
])('rejects %s', async (_, headers) => {
  await expect(verify(headers)).rejects.toThrow(WebhookRejected);
});
