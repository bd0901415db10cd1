import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { createKeyStore } from '../../systems/postgres/accounts/key-store.ts';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { type FaultServer, ownRedis, resetServers } from './support/fault-servers.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let redis: FaultServer;
let client: Redis;
let fixture: FaultFixture;
beforeAll(async () => {
  await resetServers();
  redis = await ownRedis();
  client = connectRedis({ url: redis.address, name: 'test', onError: () => undefined });
  fixture = await startFaultFixture({ on: { redisUrl: redis.address } });
});
afterAll(async () => {
  await fixture?.stop();
  client?.disconnect();
  await stopFaultTestServers();
});

const timeoutMs = 120_000;

it('loses nothing when Redis is flushed, and when its connections are cut', async () => {
  const { service } = fixture;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0, 1, 2);
  const goingOn = { yes: true };
  const flushAndCut = async (): Promise<void> => {
    for (let n = 0; goingOn.yes; n += 1) {
      if (n % 2 === 0) await client.flushall();
      else await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      if (n % 5 === 0) await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  };
  const flushed = flushAndCut();
  await steadyClient.untilFrames(2.5 * framesOfPart, timeoutMs);
  goingOn.yes = false;
  await flushed;
  await expectComplete();
  expect(steadyClient.transcript.connections).toHaveLength(1);
});

it('loses nothing when Redis is killed, stays down for a while, and loses its data', async () => {
  const { service } = fixture;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  await steadyClient.untilFrames(1_000, timeoutMs);
  await redis.kill();
  releaseFlood(service, runId, 1);
  await steadyClient.untilFrames(2 * framesOfPart, timeoutMs);
  await waitForReconnect('Redis', steadyClient, () => {
    releaseFlood(service, runId, 2);
    return redis.start();
  });
  await expectComplete();
  expect(steadyClient.transcript.connections).toHaveLength(1);
});

it('admits and ends runs while Redis is down', async () => {
  await redis.kill();
  const runId = await fixture.trigger('nothing but an echo');
  const reader = fixture.follow(runId, { name: 'reader' });
  await reader.untilFinished(timeoutMs);
  await fixture.expectInvariants(runId, { clients: [reader] });
  await redis.start();
});

const perMinute = 20;

async function keyOf({ database, projectId }: FaultFixture['service']): Promise<string> {
  const named = { projectId, name: 'rate', createdBy: 'ana', rateLimitRpm: perMinute };
  return (await createKeyStore(database.pool).create(named)).key;
}

interface Called {
  statuses: number[];
  limits: (string | null)[];
  /** The most that a bucket can have admitted so far: its capacity plus the refill. */
  mostOfOne: number;
}

/** More calls to each process than its bucket holds. */
async function callAll(urls: string[], key: string): Promise<Called[]> {
  const began = performance.now();
  const each = urls.map(async (url) => {
    const statuses: number[] = [];
    const limits: (string | null)[] = [];
    for (let n = 0; n < perMinute + 10; n += 1) {
      const answer = await fetch(`${url}/api/v1/flows`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await answer.text();
      statuses.push(answer.status);
      limits.push(answer.headers.get('x-ratelimit-limit'));
    }
    return { statuses, limits };
  });
  const called = await Promise.all(each);
  const refilled = Math.ceil(((performance.now() - began) / 60_000) * perMinute);
  return called.map((one) => ({ ...one, mostOfOne: perMinute + refilled }));
}

const allowed = ({ statuses }: Called): number => statuses.filter((one) => one === 200).length;

it.each([
  ['is killed', () => redis.kill(), () => redis.start()],
  [
    'hangs',
    () => client.call('CLIENT', 'PAUSE', '600000', 'ALL'),
    () => redis.kill().then(redis.start),
  ],
])(
  'limits a key per process while Redis %s, and over all processes afterwards',
  async (_, lose, recover) => {
    const { service } = fixture;
    const other = await service.anotherApi();
    await other.api.start();
    const urls = [service.url, other.url];
    const lost = await keyOf(service);
    await lose();
    for (const one of await callAll(urls, lost)) {
      expect(new Set(one.statuses)).toEqual(new Set([200, 429]));
      expect(new Set(one.limits)).toEqual(new Set([String(perMinute)]));
      expect(allowed(one)).toBeGreaterThanOrEqual(perMinute);
      expect(allowed(one)).toBeLessThanOrEqual(one.mostOfOne);
    }
    await recover();
    const isShared = async (): Promise<boolean> => {
      const [one, two] = await callAll(urls, await keyOf(service));
      return one !== undefined && two !== undefined && allowed(one) + allowed(two) <= one.mostOfOne;
    };
    await expect.poll(isShared, { timeout: timeoutMs, interval: 1_000 }).toBe(true);
    await other.api.kill('SIGTERM');
  },
);
