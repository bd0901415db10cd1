// A worker that uploads many files at once keeps its heartbeat and its leases.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readWorkerConfig } from '../../../../config/config.ts';
import { hostThresholds } from '../../../../core/hosts/host-thresholds.ts';
import { limits } from '../../../../core/limits.ts';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import { withTimeout } from '../../../../lib/async/timeout.ts';
import { openWorkerPools } from '../../../../systems/postgres/client/worker-pools.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { buildSupervisor } from '../../../../worker/build-supervisor.ts';
import { noopMetrics } from '../../../../worker/instrumentation.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { measureSlowdown } from '../../../support/processor-wait.ts';
import { stackEnv } from '../../../support/stack-env.ts';

let database: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = mkdtempSync(join(tmpdir(), 'pools-'));
});
afterAll(async () => {
  await database?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The parts of a worker, without its loops. */
function buildWorker() {
  const logger = pino({ level: 'silent' });
  const config = readWorkerConfig({
    DATABASE_URL: database.url,
    REDIS_URL: stackEnv.redisUrl,
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    DOCKER_HOST: stackEnv.dockerHost,
    SANDBOX_IMAGE: stackEnv.scriptedImage,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    INSTANCE: `t-${randomUUID().slice(0, 8)}`,
    DATA_DIR: dataDir,
    OFFLINE_MODEL: 'no',
  });
  const worker = {
    config,
    logger,
    metrics: null,
    telemetry: { metrics: noopMetrics, logger },
    host: hostThresholds(config.times.hostLostMs),
    stopWithError: () => expect.unreachable(),
  };
  return buildSupervisor(worker, { hostId: 'uploading', owner: 'test' });
}

/** Sends its first chunk at once, and the rest when the gate opens. */
async function* gated(content: Buffer, gate: Promise<unknown>): AsyncGenerator<Buffer> {
  yield content.subarray(0, limits.blob.chunkBytes);
  await gate;
  yield content.subarray(limits.blob.chunkBytes);
}

test('forty uploads that stall delay neither the heartbeat nor other statements', async () => {
  const local = buildWorker();
  const { hosts, host } = local.heartbeat;
  const { pool } = local.common;
  const blobs = createBlobStore(pool);
  const gate = createDeferred<true>();
  const uploads = Array.from({ length: 40 }, () => {
    const content = randomBytes(limits.blob.chunkBytes + 1);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return blobs.put(gated(content, gate.promise), { sha256, size: content.length });
  });
  const settled = Promise.allSettled(uploads);
  await expect.poll(() => pool.totalCount - pool.idleCount).toBeGreaterThanOrEqual(8);
  const slowdown = measureSlowdown(process.pid);
  const from = performance.now();
  const heartbeat = await hosts.renew(host).then(
    () => 'renewed',
    (error: Error) => error.message,
  );
  const tookMs = performance.now() - from;
  console.log(`heartbeat: ${heartbeat} after ${Math.round(tookMs)} ms`);
  const statement = await withTimeout(2_000, pool.query('select 1')).then(
    () => 'answered',
    () => 'late',
  );
  gate.resolve(true);
  const stored = (await settled).filter(({ status }) => status === 'fulfilled');
  await local.close();
  expect({ heartbeat, statement, stored: stored.length }).toEqual({
    heartbeat: 'renewed',
    statement: 'answered',
    stored: 40,
  });
  expect(tookMs).toBeLessThan(2_000 * slowdown());
}, 60_000);

test('statements that occupy the whole pool delay neither the heartbeat nor a lease', async () => {
  const local = buildWorker();
  const { hosts, host } = local.heartbeat;
  const { pool } = local.common;
  const { leasePool, end } = openWorkerPools(database.url, {
    applicationName: 'test-leases',
    connections: 8,
    onError: () => undefined,
  });
  const frames = createFrameStore(pool, leasePool);
  const busy = Array.from({ length: pool.options.max }, () => pool.query('select pg_sleep(4)'));
  await expect.poll(() => pool.totalCount - pool.idleCount).toBe(pool.options.max);
  const slowdown = measureSlowdown(process.pid);
  const from = performance.now();
  expect(await hosts.renew(host)).not.toBeNull();
  expect(await frames.renewLease(randomUUID(), 1, 15_000)).toBe('lost');
  expect(await frames.takeLease(randomUUID(), 'test', 15_000)).toBeNull();
  expect(performance.now() - from).toBeLessThan(2_000 * slowdown());
  await Promise.all(busy);
  await Promise.all([local.close(), end()]);
});

test('a worker opens no more connections than its setting allows', async () => {
  const pools = openWorkerPools(database.url, {
    applicationName: 'test-total',
    connections: 8,
    onError: () => undefined,
  });
  const used = pools.all.flatMap((pool) =>
    Array.from({ length: 10 }, () => pool.query('select pg_sleep(0.1)')),
  );
  await expect.poll(() => pools.pool.waitingCount).toBeGreaterThan(0);
  const text = 'select count(*)::int as open from pg_stat_activity where application_name = $1';
  await expect
    .poll(async () => (await database.pool.query(text, ['test-total'])).rows[0]?.open)
    .toBe(8);
  await Promise.all(used);
  await pools.end();
});
