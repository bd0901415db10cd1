import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPresence } from '../../../../systems/redis/presence.ts';
import { openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let fixture: RedisFixture;
beforeAll(async () => {
  fixture = await openRedis();
});
afterAll(() => fixture?.close());

describe('presence', () => {
  it('is visible to every process, as the time without a reader', async () => {
    const here = createPresence(fixture.redis, fixture);
    const otherProcess = createPresence(await fixture.connect(), fixture);
    expect(await otherProcess.unattendedForMs('run-1')).toBeNull();
    await here.touch(['run-1', 'run-2']);
    await sleep(100); // by this machine's clock, not Redis's
    expect(await otherProcess.unattendedForMs('run-1')).toBeGreaterThanOrEqual(50);
    await here.touch(['run-2']);
    const [first, second] = await Promise.all(
      ['run-1', 'run-2'].map((runId) => otherProcess.unattendedForMs(runId)),
    );
    expect(first ?? 0).toBeGreaterThan(second ?? 0);
  });

  it('is assumed while Redis is down', async () => {
    const lost = await fixture.connect();
    lost.disconnect();
    const presence = createPresence(lost, fixture);
    await presence.touch(['run-1']);
    expect(await presence.unattendedForMs('run-1')).toBe(0);
  });
});
