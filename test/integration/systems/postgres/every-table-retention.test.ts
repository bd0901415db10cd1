// A new table fails the first test until it has rows in aged-rows.ts, with the time for which they
// are kept, or a reason in `permanent`.

import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { createKeyUsageStore } from '../../../../systems/postgres/accounts/key-usage-store.ts';
import { createHostRpcStore } from '../../../../systems/postgres/hosts/host-rpc-store.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createRetention } from '../../../../worker/reconciler/jobs/retention.ts';
import {
  type AgedRow,
  agedFrom,
  insertAgedRows,
  retentionTimes,
  unfoldedRows,
} from './aged-rows.ts';
import { setDatabaseClock } from './clock.ts';
import { setupScenario } from './setup-scenario.ts';

/** Tables without overdue rows, and why. */
const permanent: Record<string, string> = {
  api_keys: 'the keys of a project',
  audit_log: 'its rows are only added',
  database_identity: 'one row',
  flow_versions: 'the latest 50 per flow: a change deletes the others',
  flows: 'the configuration of a project',
  host_leases: 'one row per host',
  hosts: 'one row per host',
  installation: 'facts about the installation',
  migrations: 'one row per migration',
  monthly_runs: 'one row per project and month',
  open_sessions: 'one row per project',
  operator_links: 'expired rows are deleted by the next sign-in',
  operator_sessions: 'expired rows are deleted by the next sign-in',
  operator_tokens: 'expired rows are deleted by the next token',
  operators: 'the operators',
  project_turns: 'one row per project',
  projects: 'the projects',
  reconciler_jobs: 'one row per job',
  restores: 'one row per restore',
  run_configs: 'deleted when the sandbox has it, or at the end of the run',
  run_tokens: 'expired rows are deleted by the next token',
  scheduled_starts: 'the latest 20 per flow: an insert deletes the others',
  schema_functions: 'one row per function',
  stored_bytes: 'one row per project and kind',
  temporal_identity: 'one row',
  webhook_endpoints: 'the endpoints of a project',
};

const { database, scenario } = setupScenario();
const rows: AgedRow[] = [];
/** The second dataset is still kept when the first one is overdue. */
const laterMs = 1_000;
beforeAll(async () => {
  const { pool } = database;
  for (const atMs of [0, laterMs]) {
    await timeIs(atMs);
    rows.push(...(await insertAgedRows({ pool, scenario, atMs })));
  }
  rows.push(...(await unfoldedRows(pool)));
});

const timeIs = (ms: number) =>
  setDatabaseClock(database.pool, new Date(agedFrom + ms).toISOString());

async function unclassifiedTables(): Promise<string[]> {
  const text = `select table_name as name from information_schema.tables
                where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const found = await database.pool.query<{ name: string }>(text);
  const known = new Set([...rows.map(({ table }) => table), ...Object.keys(permanent)]);
  return found.rows.flatMap(({ name }) => (known.has(name) ? [] : [name]));
}

test('every table has rows that age here, or a reason why its rows remain', async () => {
  expect(await unclassifiedTables()).toEqual([]);
  await database.pool.query('create table further (run_id uuid)');
  expect(await unclassifiedTables()).toEqual(['further']);
});

async function sweep(): Promise<void> {
  const { purgeRows, purgeBlobs, foldStoredBytes } = createRetention({
    retention: createRetentionStore(database.pool),
    retentionTimes,
    logger: pino({ level: 'silent' }),
  });
  for (const purge of [purgeRows, purgeBlobs, foldStoredBytes]) while (!(await purge()));
  await createKeyUsageStore(database.pool).purge();
  await createHostRpcStore(database.pool).removeExpired();
}

const tables = () => [...new Set(rows.map(({ table }) => table))].sort();

async function stored(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables()) {
    const text = `select count(*)::integer as n from ${table}`;
    counts[table] = (await database.pool.query<{ n: number }>(text)).rows[0]?.n ?? 0;
  }
  return counts;
}

const keptAt = (ms: number): Record<string, number> =>
  Object.fromEntries(
    tables().map((table) => {
      const kept = rows.filter((row) => row.table === table && row.untilMs >= ms);
      return [table, kept.length];
    }),
  );

test('each row is deleted when its retention has passed, and none before', async () => {
  expect(await stored()).toEqual(keptAt(-1));
  const ends = rows.map(({ untilMs }) => untilMs).filter((ms) => ms >= laterMs && ms < Infinity);
  const instants = new Set([laterMs, ...ends.flatMap((ms) => [ms, ms + 1])]);
  for (const ms of [...instants].sort((a, b) => a - b)) {
    await timeIs(ms);
    await sweep();
    expect({ ms, ...(await stored()) }).toEqual({ ms, ...keptAt(ms) });
  }
});
