// Fifty uploads to a process with four connections to Postgres, while Postgres stores no contents.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { createPool, type Pool } from '../../../systems/postgres/client/pool.ts';
import { type ApiProcess, storesOf } from '../../support/api-fixture.ts';
import { holdContents } from '../../support/hold-contents.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, tenant } = useTenant();
const applicationName = 'test-few-connections';
let pool: Pool;
let process: ApiProcess;

beforeAll(async () => {
  pool = createPool(fixture.database.url, { applicationName, max: 4 });
  // A busy machine may take longer for all of this than the pool waits for a lock.
  Object.assign(pool.options, { lock_timeout: 60_000 });
  const { hostRpc: _, ...stores } = storesOf({ pool });
  process = await fixture.start(stores);
});
afterAll(async () => {
  await process.close();
  await pool.end();
});

async function waitingInPostgres(): Promise<number> {
  const { rows } = await fixture.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where application_name = $1 and wait_event_type = 'Lock'`,
    [applicationName],
  );
  return rows[0]?.count ?? 0;
}

function upload(bytes: number) {
  const content = randomBytes(bytes).toString('base64');
  const files = [{ path: `f-${bytes}`, content, encoding: 'base64' }];
  return caller(process, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Go', files },
  });
}

test('other callers are answered while fifty uploads wait for Postgres', async () => {
  const other = await fixture.tenant();
  const call = caller(process, other.key);
  const release = await holdContents(fixture.database.pool);
  const settled: number[] = [];
  const uploads = Array.from({ length: 50 }, async (_, n) => {
    const { chunkBytes } = limits.blob;
    const { status } = await upload(n % 2 === 0 ? chunkBytes + 1 : chunkBytes / 8);
    settled.push(status);
  });
  await expect.poll(waitingInPostgres).toBe(3);
  for (let n = 0; n < 3; n += 1) {
    const made = await call(`/api/v1/flows/${other.flowId}/runs`, { body: { prompt: 'Go' } });
    expect(made.status).toBe(201);
    expect((await call(`/api/v1/runs/${made.json.data.runId}`)).status).toBe(200);
  }
  expect(settled).toEqual([]);
  await release();
  await Promise.all(uploads);
  expect(new Set(settled)).toEqual(new Set([201]));
});
