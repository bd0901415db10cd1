// While a process holds locks of one project, or has stopped between two statements, other projects
// are admitted and placed.

import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createPool } from '../../../../systems/postgres/client/pool.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import type { InputFiles } from '../../../../systems/postgres/files/input-files.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { openTcpHoldProxy } from '../../../faults/support/tcp-hold-proxy.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { lockRow, type RowOf } from './lock-row.ts';
import { storeMessage, untilWaiting } from './session-turns.ts';

const content = Buffer.from('hello');
const sha256 = createHash('sha256').update(content).digest('hex');
const file = { path: 'a', sha256, size: content.length, mode: 0o644, scope: 'flow' } as const;
const files: InputFiles = { files: [file], classifiedBy: { sha256: null } };

const database = useDatabase();
const admission = () => createAdmission(database.pool, testSealer);
const startHost = () =>
  createHostStore(database.pool).renew({ hostId: 'h', name: 'h', capacity: 1_000 });
let stalled: Scenario;
let other: Scenario;
beforeAll(async () => {
  await createBlobStore(database.pool).put(Readable.from([content]), { sha256, size: file.size });
});
beforeEach(async () => {
  await database.pool.query('delete from hosts');
  stalled = await createScenario(database.pool, testSealer);
  other = await createScenario(database.pool, testSealer);
});

/** A run of the other project is admitted and placed, and one that waits gets a slot. */
async function expectOtherPlaced(waitingRunId: string): Promise<void> {
  const { runId } = await other.run();
  await admission().assignWaiting();
  for (const placed of [waitingRunId, runId])
    expect(await admission().claimSlot(placed, 0)).toMatchObject({ hostId: 'h' });
}

async function openTransactions(applicationName: string): Promise<number | null> {
  const text = `select from pg_stat_activity
                where application_name = $1 and state = 'idle in transaction'`;
  return (await database.pool.query(text, [applicationName])).rowCount;
}

const steps = [
  ['an admission with files', 'admitWithFiles', 'insert into input_files'],
  ['its dry run', 'dryRunWithFiles', 'from flow_files'],
] as const;

test.each(steps)('%s that stops between two statements delays no other project', async (...of) => {
  const [, step, statement] = of;
  const waiting = await other.run();
  await startHost();
  const { applicationName, proxy, result } = await stopAt(step, statement);
  await expectOtherPlaced(waiting.runId);
  expect(await openTransactions(applicationName)).toBe(1);
  proxy.release();
  const hostId = step === 'admitWithFiles' ? 'h' : null;
  expect(await result).toMatchObject({ outcome: 'admitted', run: { hostId } });
});

/** A process whose statements stop arriving during an admission. */
async function stopAt(step: (typeof steps)[number][1], statement: string) {
  const applicationName = `stopped-${randomUUID().slice(0, 8)}`;
  const proxy = await openTcpHoldProxy(database.url);
  const pool = createPool(proxy.url, { applicationName });
  onTestFinished(async () => {
    proxy.close();
    await pool.end();
  });
  proxy.hold(new RegExp(statement));
  const result = createAdmission(pool, testSealer)[step](stalled.request(), files);
  await expect.poll(proxy.held).toContain(statement);
  return { applicationName, proxy, result };
}

interface LockedRow {
  row: RowOf;
  /** Waits for the row. */
  act: () => Promise<unknown>;
}

const lockedRows: Record<string, () => Promise<LockedRow>> = {
  'its flow': async () => ({
    row: ['flows', 'id = $1', stalled.flow.flowId],
    act: () => admission().admitRun(stalled.request()),
  }),
  'an expired idempotency key': async () => {
    const { projectId } = stalled;
    await stalled.run({ idempotencyKey: 'k' });
    await database.pool.query(
      'update idempotency_keys set expires_at = db_clock() where project_id = $1',
      [projectId],
    );
    const act = () => admission().admitRun(stalled.request({ idempotencyKey: 'k' }));
    return { row: ['idempotency_keys', 'project_id = $1', projectId], act };
  },
  'a run that claims a slot': async () => {
    const { runId } = await stalled.run();
    await database.pool.query('update runs set waiting_since = null where id = $1', [runId]);
    return { row: ['runs', 'id = $1', runId], act: () => admission().claimSlot(runId, 0) };
  },
  'the run of a session that claims a slot': async () => {
    const { runId } = await stalled.session();
    await storeMessage(database.pool, runId);
    const act = () => createTurnStore(database.pool).claimSlot(runId, 0);
    return { row: ['runs', 'id = $1', runId], act };
  },
  'a session that claims a slot': async () => {
    const { runId } = await stalled.session();
    await storeMessage(database.pool, runId);
    const act = () => createTurnStore(database.pool).claimSlot(runId, 0);
    return { row: ['sessions', 'run_id = $1', runId], act };
  },
};

test.each(Object.keys(lockedRows))('a project that waits for %s delays no other', async (name) => {
  const locked = await lockedRows[name]?.();
  if (!locked) throw new Error(`no row ${name}`);
  const waiting = await other.run();
  await startHost();
  const { release } = await lockRow(database.pool, locked.row);
  const delayed = locked.act();
  await untilWaiting(database.pool);
  await expectOtherPlaced(waiting.runId);
  await untilWaiting(database.pool);
  await release();
  await delayed;
});

test('retention skips an expired idempotency key that is locked, and deletes the others', async () => {
  for (const { run } of [stalled, other]) await run({ idempotencyKey: 'k' });
  await database.pool.query(`update idempotency_keys set expires_at = db_clock() - interval '1 s'`);
  await lockRow(database.pool, ['idempotency_keys', 'project_id = $1', stalled.projectId]);
  await createRetentionStore(database.pool).expiredKeys();
  const { rows } = await database.pool.query(
    'select project_id as "projectId" from idempotency_keys',
  );
  expect(rows).toEqual([{ projectId: stalled.projectId }]);
});

test('an admission that stops delays its own project by seconds', async () => {
  const { result } = await stopAt('admitWithFiles', 'insert into input_files');
  const stopped = expect(result).rejects.toThrow();
  expect(await stalled.run()).toMatchObject({ hostId: null });
  await stopped;
});
