// Fifty large uploads at once to an API with four connections to Postgres, and fifty large files
// that an agent has written, on a worker with eight.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostThresholds } from '../../core/hosts/host-thresholds.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { measureSlowdown } from '../support/processor-wait.ts';
import { script } from '../support/prompts.ts';
import { untilWorking } from '../support/run-states.ts';
import { createTenant, type Service, startService } from '../support/service.ts';

const uploadCount = 50;
const uploadBytes = 4 * 1024 ** 2;
const pairMaxMs = 1_500;
const env = { API_POSTGRES_CONNECTIONS: '4', WORKER_POSTGRES_CONNECTIONS: '8' };

let service: Service;
let other: ApiClient & { flowId: string };
beforeAll(async () => {
  service = await startService({ env });
  const { database, encryptionKey, url } = service;
  await database.pool.query('update projects set max_concurrent_runs = 1000');
  const tenant = await createTenant(database, encryptionKey);
  other = { ...createApiClient({ url, ...tenant }), flowId: tenant.flowId };
});
afterAll(() => service?.stop());

async function upload(n: number): Promise<number> {
  const content = randomBytes(uploadBytes).toString('base64');
  const body = { prompt: script([]), files: [{ path: `f-${n}`, content, encoding: 'base64' }] };
  return (await service.call('POST', `/flows/${service.flowId}/runs`, { body })).status;
}

/** The age of the host's heartbeat, and how long the lease of the run is still valid. */
async function marginsOf(runId: string): Promise<{ heartbeatMs: number; leaseMs: number }> {
  const { rows } = await service.database.pool.query(
    `select 1000 * extract(epoch from db_clock() - h.last_seen)::float as "heartbeatMs",
            1000 * extract(epoch from l.lease_expires_at - db_clock())::float as "leaseMs"
     from hosts h, run_logs l where l.run_id = $1`,
    [runId],
  );
  return rows[0];
}

it('uploads delay neither other callers nor heartbeats and leases', async () => {
  const files = Array.from({ length: 50 }, (_, n) => ({ fill: { path: `big-${n}`, mb: 4 } }));
  const writing = await other.trigger({ prompt: script(files) });
  const quiet = await other.trigger({ prompt: script([{ hang: true }]) });
  await untilWorking({ readRun: other.readRun }, quiet);

  const slowdown = measureSlowdown(service.api.pid());
  const pairsMs: number[] = [];
  const margins: Awaited<ReturnType<typeof marginsOf>>[] = [];
  const done = { isDone: false };
  const uploads = Promise.all(Array.from({ length: uploadCount }, (_, n) => upload(n)));
  void uploads.finally(() => (done.isDone = true));
  while (!done.isDone) {
    const from = performance.now();
    expect((await other.call('GET', '/flows')).status).toBe(200);
    expect((await other.call('GET', `/runs/${quiet.runId}`)).status).toBe(200);
    pairsMs.push(performance.now() - from);
    margins.push(await marginsOf(quiet.runId));
    await sleep(50);
  }
  const statuses = await uploads;
  const factor = slowdown();
  const slowest = Math.max(...pairsMs);
  const heartbeatMs = Math.max(...margins.map((each) => each.heartbeatMs));
  const leaseMs = Math.min(...margins.map((each) => each.leaseMs));
  console.info({ pairs: pairsMs.length, slowest, heartbeatMs, leaseMs, factor });
  // A body that finds no memory for ten seconds is rejected.
  expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
  expect(statuses).toContain(201);
  expect(slowest).toBeLessThan(pairMaxMs * factor);
  expect(heartbeatMs).toBeLessThan(hostThresholds().staleMs);
  expect(leaseMs).toBeGreaterThan(0);
  await other.untilEnded(writing.runId, 120_000);
  expect((await other.readRun(quiet.runId)).agentStatus).toBe('working');
  await other.call('POST', `/runs/${quiet.runId}/stop`, { body: { graceSeconds: 0 } });
});
