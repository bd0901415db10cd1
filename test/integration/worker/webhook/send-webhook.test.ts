import { afterEach, describe, expect, it } from 'vitest';
import type { WebhookSender } from '../../../../core/webhook.ts';
import { createWebhookSender } from '../../../../worker/webhook/send-webhook.ts';
import {
  answerWith,
  type Behaviour,
  startReceiver,
  type WebhookReceiver,
} from '../../../support/webhook-receiver.ts';

const open: WebhookReceiver[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const body = JSON.stringify({ labels: { who: 'Zoë €' } });

async function receiver(behave?: Behaviour): Promise<WebhookReceiver> {
  const started = await startReceiver(behave, () => null);
  open.push(started);
  return started;
}

function sender({ caFile }: WebhookReceiver, attemptTimeoutMs = 10_000): WebhookSender {
  return createWebhookSender({ caFile, allowPrivate: ['127.0.0.0/8'], attemptTimeoutMs });
}

describe('one attempt of a webhook', () => {
  it('posts the body byte for byte, with the given headers', async () => {
    const target = await receiver();
    const headers = { 'content-type': 'application/json', 'x-service-event': 'run.finished' };
    const url = `${target.url}/hook?x=1`;
    expect(await sender(target)({ url, body, headers })).toEqual({
      outcome: 'answered',
      status: 204,
    });
    expect(target.posts).toMatchObject([{ path: '/hook?x=1', body, headers }]);
  });

  it.each([301, 302, 307, 308])(
    'treats %i as the answer and follows no redirect',
    async (status) => {
      const target = await receiver();
      const hook = await receiver(answerWith(status, { location: `${target.url}/` }));
      expect(await sender(hook)({ url: hook.url, body, headers: {} })).toEqual({
        outcome: 'answered',
        status,
      });
      expect(target.posts).toEqual([]);
    },
  );

  it('fails without a verified certificate, regardless of the environment', async () => {
    const hook = await receiver();
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const trustsNobodyElse = createWebhookSender({ caFile: null, allowPrivate: ['127.0.0.0/8'] });
    const outcome = await trustsNobodyElse({ url: hook.url, body, headers: {} });
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    expect(outcome).toEqual({ outcome: 'failed', reason: 'not_connected' });
    expect(hook.posts).toEqual([]);
  });

  it('ignores proxies of the environment', async () => {
    const hook = await receiver();
    process.env['HTTPS_PROXY'] = 'http://127.0.0.1:9';
    const outcome = await sender(hook)({ url: hook.url, body, headers: {} });
    delete process.env['HTTPS_PROXY'];
    expect(outcome).toEqual({ outcome: 'answered', status: 204 });
  });

  it('times out without an answer', async () => {
    const hook = await receiver(() => {});
    const start = performance.now();
    const outcome = await sender(hook, 300)({ url: hook.url, body, headers: {} });
    expect(outcome).toEqual({ outcome: 'failed', reason: 'timed_out' });
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it('times out during an endless answer, and has its status', async () => {
    const hook = await receiver((response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 50);
      response.on('close', () => clearInterval(drip));
    });
    const start = performance.now();
    const outcome = await sender(hook, 3_000)({ url: hook.url, body, headers: {} });
    expect(outcome).toEqual({ outcome: 'answered', status: 200 });
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it('reads no more than 64 KiB of an answer', async () => {
    let written = 0;
    let closed = false;
    const hook = await receiver((response) => {
      response.on('close', () => {
        closed = true;
      });
      const pump = (): void => {
        if (closed || written > 256 * 1024 ** 2) return;
        written += 65_536;
        if (response.write(Buffer.alloc(65_536))) setImmediate(pump);
        else response.once('drain', pump);
      };
      response.writeHead(200);
      pump();
    });
    const outcome = await sender(hook)({ url: hook.url, body, headers: {} });
    expect(outcome).toEqual({ outcome: 'answered', status: 200 });
    expect(written).toBeLessThan(32 * 1024 ** 2);
  });

  it('fails when the receiver disconnects', async () => {
    const hook = await receiver((response) => response.destroy());
    const outcome = await sender(hook)({ url: hook.url, body, headers: {} });
    expect(outcome).toEqual({ outcome: 'failed', reason: 'not_connected' });
  });
});
