import type { buildConnector } from 'undici';
import { expect, test } from 'vitest';
import { createWebhookSender } from '../../../../worker/webhook/send-webhook.ts';

test('all attempts share the parsed certificates', async () => {
  const contexts: unknown[] = [];
  const connect = ((options: { secureContext?: unknown }) => {
    contexts.push(options.secureContext);
    return (_target: buildConnector.Options, callback: buildConnector.Callback) =>
      callback(new Error('no packet leaves the machine'), null);
  }) as typeof buildConnector;
  const lookup = async (): Promise<string[]> => ['8.8.8.8'];
  const send = createWebhookSender({ caFile: null, allowPrivate: [], connect, lookup });
  const request = { url: 'https://hook.example/', body: '{}', headers: {} };
  const outcomes = await Promise.all([send(request), send(request)]);
  const failed = { outcome: 'failed', reason: 'not_connected' };
  expect(outcomes).toEqual([failed, failed]);
  expect(contexts[0]).toHaveProperty('context');
  expect(contexts[1]).toBe(contexts[0]);
});
