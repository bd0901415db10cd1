// All three stores over TLS that demands a client certificate.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectRedis } from '../../systems/redis/connect.ts';
import { makeAuthority } from '../support/authority.ts';
import { openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { cliWith } from '../support/run-cli.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { openTlsProxy } from '../support/tls-proxy.ts';
import { tlsSettings } from '../support/tls-settings.ts';
import { openTlsStores, type TlsStores } from '../support/tls-stores.ts';

const temporalName = 'temporal.test';
const authority = makeAuthority('127.0.0.1');
const client = authority.issue({ names: ['DNS:client'] });
const folder = mkdtempSync(join(tmpdir(), 'tls-test-'));
const { query, env: tlsEnv } = tlsSettings(folder, authority.ca, client);
const env = { ...tlsEnv, TEMPORAL_TLS_SERVER_NAME: temporalName };

let stores: TlsStores;
let service: Service;
beforeAll(async () => {
  stores = await openTlsStores({
    shows: authority,
    // The certificate is not valid for the address, so every client must use the configured name.
    temporalShows: authority.issue({ names: [`DNS:${temporalName}`] }),
    demands: authority.ca,
  });
  const { redisUrl, temporalAddress } = stores;
  const on = { postgresUrl: stores.postgresUrl(query), redisUrl, temporalAddress };
  service = await startService({ on, env });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  stores?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('carries runs, sessions and live streams, and is ready', async () => {
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const { runId } = await service.trigger({ prompt: script([{ say: 'over TLS' }]) });
  const seen = [];
  for await (const { event } of service.stream(runId)) seen.push(event);
  expect(seen.at(-1)).toBe('finished');
  expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'over TLS' });
  const chat = await openConversation(service);
  expect(await chat.say(script([{ say: 'here' }]))).toMatchObject({ texts: ['here'] });
  await endSession(service, chat);
  expect(service.api.log() + service.worker.log()).not.toMatch(/PRIVATE KEY|certificate/);
});

it('carries a backup and its restore', async () => {
  const file = join(folder, 'backup');
  const flowrun = cliWith({
    ...env,
    DATABASE_URL: service.database.url,
    ENCRYPTION_KEY: service.encryptionKey.toString('base64'),
    REDIS_URL: stores.redisUrl,
    INSTANCE: service.instance,
  });
  expect(await flowrun('backup', file, '--without-key')).toMatchObject({ code: 0 });
  await Promise.all([service.api.kill('SIGTERM'), service.worker.kill('SIGTERM')]);
  expect(await flowrun('restore', file, '--replace')).toMatchObject({ code: 0 });
  await Promise.all([service.api.start(), service.worker.start()]);
  const { runId } = await service.trigger({ prompt: script([{ say: 'after it' }]) });
  expect(await service.untilEnded(runId)).toMatchObject({ result: 'after it' });
});

it('explains a closed Redis connection by a possibly rejected certificate', async () => {
  const stranger = makeAuthority('127.0.0.1');
  const tls = { ca: authority.ca, cert: stranger.cert, key: stranger.key };
  const messages: string[] = [];
  const onError = ({ message }: Error) => messages.push(message);
  const redis = connectRedis({ url: stores.redisUrl, tls, name: 'test', onError });
  const expected = /^no TLS connection to Redis: .*the server may require a client certificate/;
  await expect.poll(() => messages).toContainEqual(expect.stringMatching(expected));
  redis.disconnect();
});

it('sends Redis the server name (SNI), which proxies need', async () => {
  const named = authority.issue({ names: ['DNS:localhost'] });
  const url = new URL(stackEnv.redisUrl.replace(/^redis:/, 'rediss:'));
  const proxy = await openTlsProxy({ to: Number(url.port), shows: named });
  url.host = `localhost:${proxy.port}`;
  const address = { url: url.href, tls: { ca: authority.ca } };
  const redis = connectRedis({ ...address, name: 'test', onError: () => undefined });
  await expect.poll(() => redis.status).toBe('ready');
  expect(proxy.names).toEqual(['localhost']);
  redis.disconnect();
  proxy.close();
});
