// A schedule fires while an API process finds the disk of Postgres short.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisKeys } from '../../systems/redis/keys.ts';
import { signInByFirstLink } from '../support/operator-client.ts';
import { script } from '../support/prompts.ts';
import { openRedis, type RedisFixture } from '../support/redis-fixture.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

const patiently = { timeout: 120_000 };
let service: Service;
let connection: Connection;
let ofRedis: RedisFixture;
beforeAll(async () => {
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  ofRedis = await openRedis();
  const schedule = { cron: '0 4 1 1 *', timezone: 'UTC' };
  service = await startService({
    env: { RECONCILE_EVERY_MS: '500' },
    flow: { prompt: script([{ say: 'planned' }]), schedule },
  });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await ofRedis?.close();
  await connection?.close();
});

const schedule = () => new Client({ connection }).schedule.getHandle(`flow/${service.flowId}`);
const runs = async () =>
  (await service.database.pool.query<{ id: string }>('select id from runs')).rows;

it('starts its run once the disk has room again', { timeout: 400_000 }, async () => {
  const { api } = await service.anotherApi();
  await api.start({
    POSTGRES_DISK_DIR: stackEnv.dataDir,
    POSTGRES_DISK_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER),
  });
  const { redis } = ofRedis;
  const { postgresDiskShort } = redisKeys(service.instance);
  await expect.poll(() => redis.exists(postgresDiskShort), patiently).toBe(1);
  const trigger = () =>
    schedule()
      .trigger()
      .then(
        () => true,
        () => false,
      );
  await expect.poll(trigger, patiently).toBe(true);
  await expect.poll(service.worker.log, patiently).toContain('"code":"POSTGRES_DISK_SHORT"');
  expect(await runs()).toEqual([]);

  await api.kill('SIGTERM');
  await redis.del(postgresDiskShort); // It would expire.
  await expect.poll(runs, patiently).toHaveLength(1);
  const [run] = await runs();
  expect(await service.untilEnded(run?.id ?? '')).toMatchObject({ triggerType: 'schedule' });

  const operator = await signInByFirstLink(service);
  const path = `/api/projects/${service.projectId}/flows/${service.flowId}/schedule`;
  const { data } = await operator('GET', path);
  expect(data.nextStarts[0]).toMatch(/-01-01T04:00:00/);
  expect(data.starts).toMatchObject([{ outcome: 'started', code: null, runId: run?.id }]);
  await operator('POST', `${path}/pause`);
  const isPaused = async () => (await schedule().describe()).state.paused;
  await expect.poll(isPaused, patiently).toBe(true);
});
