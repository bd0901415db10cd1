import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { webhookBodies } from '../../../api/openapi/webhook-bodies.ts';
import { verifyWebhook, WebhookRejected } from '../../../client/webhooks/verify.ts';

const secret = 'whk_0123456789abcdef';
const body = '{"runId":"1802be89-b60b-4065-b964-9718d03ae043","status":"sleep"}';
const timeSeconds = 1_795_391_095;
const now = new Date(timeSeconds * 1_000);

const sign = (text: string, { key = secret, t = String(timeSeconds) } = {}): string =>
  createHmac('sha256', key).update(`${t}.${text}`).digest('hex');

const signatureOf = (text: string, key = secret): string =>
  `t=${timeSeconds},v1=${sign(text, { key })}`;

const headersOf = (signature: string, more: Record<string, string> = {}) => ({
  'X-Service-Event': 'run.finished',
  'X-Service-Delivery-Id': 'd1',
  'X-Service-Signature': signature,
  ...more,
});

const verify = (signature: string, rawBody: string | Uint8Array<ArrayBuffer> = body) =>
  verifyWebhook({ headers: headersOf(signature), rawBody }, secret, { now });

const event = { type: 'run.finished', deliveryId: 'd1', data: JSON.parse(body) };

test('accepts a signed request in every form that frameworks have', async () => {
  const headers = headersOf(signatureOf(body));
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
  );
  const bytes = new TextEncoder().encode(body);
  const requests = [
    { headers, rawBody: body },
    { headers, rawBody: bytes },
    { headers, rawBody: Buffer.from(body) },
    { headers: lower, rawBody: body },
    { headers: new Headers(headers), rawBody: body },
    new Request('https://example.com/hook', { method: 'POST', headers, body }),
  ];
  for (const request of requests) {
    expect(await verifyWebhook(request, secret, { now })).toEqual(event);
  }
});

test('accepts either secret while it is rotated', async () => {
  const both = headersOf(signatureOf(body), {
    'X-Service-Signature-Next': signatureOf(body, 'next'),
  });
  const request = { headers: both, rawBody: body };
  for (const known of [secret, 'next', ['other', secret], [secret, 'next']]) {
    expect(await verifyWebhook(request, known, { now })).toEqual(event);
  }
  await expect(verifyWebhook(request, 'other', { now })).rejects.toThrow('signature is wrong');
});

test('accepts a signature that is 300 seconds old or early, and rejects it beyond that', async () => {
  const at = (seconds: number) =>
    verifyWebhook({ headers: headersOf(signatureOf(body)), rawBody: body }, secret, {
      now: new Date((timeSeconds + seconds) * 1_000),
    });
  expect(await at(300)).toEqual(event);
  expect(await at(-300)).toEqual(event);
  await expect(at(301)).rejects.toThrow('too old');
  await expect(at(-301)).rejects.toThrow('too old');
});

const good = sign(body);
const flipped = (good.startsWith('0') ? '1' : '0') + good.slice(1);
const forgeries: [string, string, string?][] = [
  ['no signature', ''],
  ['only a time', `t=${timeSeconds}`],
  ['only a signature', `v1=${good}`],
  ['an empty signature', `t=${timeSeconds},v1=`],
  ['a short signature', `t=${timeSeconds},v1=${good.slice(2)}`],
  ['a long signature', `t=${timeSeconds},v1=${good}00`],
  ['one wrong digit', `t=${timeSeconds},v1=${flipped}`],
  ['zeros', `t=${timeSeconds},v1=${'0'.repeat(64)}`],
  ['base64', `t=${timeSeconds},v1=${Buffer.from(good, 'hex').toString('base64')}`],
  ['text that is no number', `t=now,v1=${good}`],
  ['a time that was not signed', `t=${timeSeconds + 1},v1=${good}`],
  ['a negative time', `t=-${timeSeconds},v1=${good}`],
  ['an exponent as the time', `t=1e9,v1=${good}`],
  ['a time with a leading zero', `t=0${timeSeconds},v1=${good}`],
  ['a hexadecimal time', `t=0x6b0363b7,v1=${good}`],
  ['a time with a fraction', `t=${timeSeconds}.0,v1=${good}`],
  ['two times', `t=${timeSeconds},t=1,v1=${good}`],
  ['two signatures', `t=${timeSeconds},v1=${flipped},v1=${good}`],
  ['another order', `v1=${good},t=${timeSeconds}`],
  ['a blank', `t=${timeSeconds}, v1=${good}`],
  ['another version', `t=${timeSeconds},v0=${good}`],
  ['the version of Standard Webhooks', `v1,${Buffer.from(good, 'hex').toString('base64')}`],
  ['another secret', signatureOf(body, 'other')],
  ['the empty secret', signatureOf(body, '')],
  ['the secret with a blank', signatureOf(body, `${secret} `)],
  [
    'the body without the time',
    `t=${timeSeconds},v1=${createHmac('sha256', secret).update(body).digest('hex')}`,
  ],
  ['another body', signatureOf('{}')],
  ['a changed body', signatureOf(body), body.replace('sleep', 'Sleep')],
  ['a longer body', signatureOf(body), `${body} `],
  ['an empty body', signatureOf(body), ''],
  ['a moved dot', `t=${String(timeSeconds).slice(0, -1)},v1=${good}`],
];

test.each(forgeries)('rejects %s', async (_, signature, rawBody = body) => {
  await expect(verify(signature, rawBody)).rejects.toThrow(WebhookRejected);
});

test('rejects a body that is not that of its event, and reads later events', async () => {
  const deliver = (name: string, text: string) => {
    const headers = { ...headersOf(signatureOf(text)), 'X-Service-Event': name };
    return verifyWebhook({ headers, rawBody: text }, secret, { now });
  };
  await expect(deliver('session.ended', body)).rejects.toThrow(WebhookRejected);
  const ended = '{"runId":"r","status":"sleep","sessionId":"s"}';
  await expect(deliver('run.finished', ended)).rejects.toThrow(WebhookRejected);
  expect(await deliver('session.ended', ended)).toMatchObject({ type: 'session.ended' });
  const started = '{"runId":"r","status":"running"}';
  await expect(deliver('run.finished', started)).rejects.toThrow(WebhookRejected);
  expect(await deliver('run.started', started)).toMatchObject({ type: 'run.started' });
  const later = { type: 'unknown', name: 'run.paused', data: { runId: 'r' } };
  expect(await deliver('run.paused', started)).toMatchObject(later);
  await expect(deliver('run.started', '[]')).rejects.toThrow(WebhookRejected);
  await expect(deliver('run.started', 'no JSON')).rejects.toThrow(WebhookRejected);
});

test('needs a secret and a body that was not parsed', async () => {
  const headers = headersOf(signatureOf(body, ''));
  await expect(verifyWebhook({ headers, rawBody: body }, '', { now })).rejects.toThrow('empty');
  const parsed = { headers, rawBody: JSON.parse(body) as string }; // a mistake of a caller
  await expect(verifyWebhook(parsed, secret, { now })).rejects.toThrow('rawBody');
});

test('knows every event of the service', async () => {
  for (const name of Object.keys(webhookBodies)) {
    const headers = { ...headersOf(signatureOf('{}')), 'X-Service-Event': name };
    const verifying = verifyWebhook({ headers, rawBody: '{}' }, secret, { now });
    // Its body is compared, which is done only for known events.
    await expect(verifying, name).rejects.toThrow(`not that of ${name}`);
  }
});
