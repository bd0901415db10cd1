// Two hosts on two engines; all stores require TLS and a client certificate. The second host joins,
// works, is drained and is lost. It is configured only by its environment.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostThresholds } from '../../core/hosts/host-thresholds.ts';
import { callEngine } from '../../dev/stack/engine-api.ts';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { openDocker } from '../../systems/docker/open-docker.ts';
import type { Sandboxes } from '../../systems/docker/sandboxes.ts';
import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import { makeAuthority } from '../support/authority.ts';
import { openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { cliWith } from '../support/run-cli.ts';
import { endSession, untilWorking } from '../support/run-states.ts';
import { type Host, hostIdIn, type Service, startService } from '../support/service.ts';
import { type FaultServer, ownEngine, resetServers } from './support/fault-servers.ts';
import {
  continueSession,
  expectContinued,
  ownConfiguration,
  writeNotes,
} from './support/migrated-session.ts';
import { startTlsServers, type TlsServers } from './support/tls-servers.ts';

const lostMs = 24_000;
const pollOptions = { timeout: 120_000 };

let engine: FaultServer;
let parts: TlsServers;
let service: Service;
let second: Host;
let onSecond: Sandboxes;
beforeAll(async () => {
  await resetServers();
  engine = await ownEngine(false);
  parts = await startTlsServers();
  const { redisUrl, temporalAddress } = parts;
  const { query, env } = parts.settings(parts.authority.issue({ names: ['DNS:service'] }));
  service = await startService({
    on: { postgresUrl: parts.postgresUrl(query), redisUrl, temporalAddress },
    env: {
      ...env,
      HOST_LOST_MS: String(lostMs),
      RECONCILE_EVERY_MS: '500',
      LEASE_MS: '3000',
      SESSION_PAUSE_AFTER_MS: '600000',
    },
  });
  second = await service.anotherHost();
  onSecond = openDocker({ dockerHost: engine.address, instance: service.instance }).sandboxes;
});
afterAll(async () => {
  for (const { containerId } of await allOn(onSecond)) await onSecond.remove(containerId);
  await service?.stop();
  await stopFaultTestServers();
});

const allOn = async (sandboxes: Sandboxes | undefined) => (await sandboxes?.list()) ?? [];

async function hostOf(runId: string): Promise<'first' | 'second' | null> {
  const on = async (sandboxes: Sandboxes): Promise<boolean> =>
    (await sandboxes.list()).some((one) => one.runId === runId && one.state === 'running');
  if (await on(service.sandboxes)) return 'first';
  return (await on(onSecond)) ? 'second' : null;
}

async function secondHeartbeatAgeMs(): Promise<number> {
  const hosts = await createHostStore(service.database.pool).list();
  return hosts.find(({ hostId }) => hostId === second.hostId())?.msSinceHeartbeat ?? 0;
}

const hangs = script([{ say: 'working' }, { hang: true }]);
const startSecond = () => second.worker.start({ DOCKER_HOST: engine.address, HOST_NAME: 'second' });
const drain = (hostId: string, verb: 'drain' | 'undrain') => flowrun()('host', verb, hostId);

async function stopRun(runId: string): Promise<void> {
  await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  await service.untilEnded(runId);
}

function flowrun() {
  const { redisUrl, temporalAddress } = parts;
  const { env } = parts.settings(parts.authority.issue({ names: ['DNS:operator'] }));
  return cliWith({
    ...env,
    DATABASE_URL: service.database.url,
    ENCRYPTION_KEY: service.encryptionKey.toString('base64'),
    REDIS_URL: redisUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    INSTANCE: service.instance,
    PUBLIC_URL: service.url,
  });
}

describe('a second host with its own engine', { timeout: 300_000 }, () => {
  it('joins by its environment, and both hosts execute runs', async () => {
    await startSecond();
    const placed = new Map<string, string>();
    for (let n = 0; n < 8 && placed.size < 2; n += 1) {
      const { runId } = await service.trigger({ prompt: hangs });
      await untilWorking(service, { runId });
      const hostId = await hostOf(runId);
      if (hostId === null || placed.has(hostId)) await stopRun(runId);
      else placed.set(hostId, runId);
    }
    expect([...placed.keys()].sort()).toEqual(['first', 'second']);
    await Promise.all([...placed.values()].map(stopRun));
    const { out } = await flowrun()('doctor', '--json');
    for (const store of ['postgres', 'redis', 'temporal', 'workers'])
      expect(JSON.parse(out)).toContainEqual(
        expect.objectContaining({ name: store, state: 'ok', problems: [] }),
      );
  });

  it('is the only host that runs flows bound to it; while it is offline no host runs them', async () => {
    const bound = ['--project', service.projectId, '--name', 'Bound', '--runner', second.hostId()];
    const { flowId } = await flowrun().json<{ flowId: string }>('flow', 'create', ...bound);
    const trigger = () =>
      service.call<{ runId: string }>('POST', `/flows/${flowId}/runs`, { body: { prompt: hangs } });
    const runs = await Promise.all([trigger(), trigger(), trigger()]);
    for (const { data } of runs) {
      await untilWorking(service, data);
      expect(await hostOf(data.runId)).toBe('second');
      await stopRun(data.runId);
    }
    await second.worker.kill('SIGTERM');
    await expect
      .poll(secondHeartbeatAgeMs, pollOptions)
      .toBeGreaterThan(hostThresholds(lostMs).staleMs);
    const offline = { status: 409, body: { error: { code: 'RUNNER_OFFLINE' } } };
    expect(await trigger()).toMatchObject(offline);
    await startSecond();
    const again = await trigger();
    expect(again.status).toBe(201);
    await stopRun(again.data.runId);
  });

  it('receives all new work while the other is drained', async () => {
    const first = hostIdIn(service.dataDir);
    expect((await drain(first, 'drain')).code).toBe(0);
    for (let n = 0; n < 4; n += 1) {
      const { runId } = await service.trigger({ prompt: hangs });
      await untilWorking(service, { runId });
      expect(await hostOf(runId)).toBe('second');
      await stopRun(runId);
    }
    expect((await drain(first, 'undrain')).code).toBe(0);
  });

  it('is lost at once: its session continues on the other host, its run ends', async () => {
    const first = hostIdIn(service.dataDir);
    await drain(first, 'drain');
    const chat = await openConversation(service, ownConfiguration);
    await chat.say(writeNotes);
    const { runId } = await service.trigger({ prompt: hangs });
    await untilWorking(service, { runId });
    expect([await hostOf(chat.runId), await hostOf(runId)]).toEqual(['second', 'second']);
    await drain(first, 'undrain');

    const seen = chat.events.length;
    await loseSecond();
    const began = performance.now();
    expect(await chat.say(continueSession)).toMatchObject({ exitCode: 0 });
    console.log(`the session continued ${Math.round(performance.now() - began)} ms after the loss`);
    expectContinued(chat, seen);
    expect(await hostOf(chat.runId)).toBe('first');
    expect(await service.untilEnded(runId, pollOptions.timeout)).toMatchObject({
      error: expect.stringContaining('max_reconnects_exceeded'),
    });

    // Its sandboxes moved to another host or have ended: it removes them when it is back.
    await engine.start();
    expect((await onSecond.list()).length).toBeGreaterThan(0);
    await startSecond();
    await expect.poll(() => onSecond.list(), pollOptions).toEqual([]);
    await endSession(service, chat);
  });
});

/** Kills its worker, its engine and every process on it, like a power failure. */
async function loseSecond(): Promise<void> {
  const socket = engine.address.replace(/^unix:\/\//, '');
  const pids = await Promise.all(
    (await onSecond.list()).map(async ({ containerId }) => {
      const { text } = await callEngine(socket, { path: `/containers/${containerId}/json` });
      return (JSON.parse(text) as { State: { Pid: number } }).State.Pid; // as the engine documents it
    }),
  );
  expect(pids.length).toBeGreaterThanOrEqual(2);
  const gone = second.worker.kill('SIGKILL');
  await engine.kill();
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await gone;
}

describe('a host with the wrong certificate', { timeout: 300_000 }, () => {
  /** The log of one process of the second worker, up to this line. */
  async function outputWith(env: Record<string, string>, words: RegExp): Promise<string> {
    await second.worker.kill('SIGTERM');
    const from = second.worker.log().length;
    const started = second.worker.start({ DOCKER_HOST: engine.address, ...env });
    const ended = started.catch(() => undefined);
    await expect.poll(() => second.worker.log().slice(from), pollOptions).toMatch(words);
    await second.worker.kill('SIGKILL');
    await ended;
    return second.worker.log().slice(from);
  }

  it('is rejected by each store, and reports it', async () => {
    const stranger = makeAuthority('127.0.0.1').issue({ names: ['DNS:stranger'] });
    const { query, env } = parts.settings(stranger);
    const only = (prefix: string) =>
      Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith(prefix)));
    const url = new URL(parts.postgresUrl(query));
    url.pathname = new URL(service.database.url).pathname;
    const outputs = [
      await outputWith({ DATABASE_URL: url.href }, /alert unknown ca.*dependency_unavailable/),
      await outputWith(
        only('TEMPORAL_'),
        /received fatal alert: \w*(Certificate|CA).*dependency_unavailable/i,
      ),
    ];
    for (const output of outputs) expect(output).not.toMatch(/worker_ready|PRIVATE KEY/);
    await outputWith(only('REDIS_'), /(reject this one|unknown ca).*connection_lost/);
    const { out } = await cliWith({
      ...env,
      DATABASE_URL: url.href,
      ENCRYPTION_KEY: service.encryptionKey.toString('base64'),
      REDIS_URL: parts.redisUrl,
      TEMPORAL_ADDRESS: parts.temporalAddress,
      PUBLIC_URL: service.url,
    })('doctor');
    for (const store of ['postgres', 'redis', 'temporal'])
      expect(out).toContain(`[${store}_rejects_certificate]`);
  });

  it('is rejected without one', async () => {
    const without = { TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' };
    const output = await outputWith(
      without,
      /received fatal alert: CertificateRequired.*dependency_unavailable/,
    );
    expect(output).not.toContain('worker_ready');
  });
});
