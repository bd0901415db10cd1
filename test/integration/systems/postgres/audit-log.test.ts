// An entry is written with its change or not at all, and remains.

import { expect, test } from 'vitest';
import type { AuditActor } from '../../../../core/audit/audit-entry.ts';
import { createAuditLog } from '../../../../systems/postgres/accounts/audit-log.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import { testSealer } from '../../../support/database.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
const actor: AuditActor = {
  source: 'command_line',
  operatorId: null,
  operator: null,
  tokenId: null,
  address: 'root@runs-1',
  requestId: null,
};

const log = () => createAuditLog(database.pool, testSealer);
const projects = () => createProjectStore(database.pool, testSealer);
const create = (projectId: string) =>
  log().changeAs(actor, (on) => on.createProject({ projectId, name: projectId }));
const entriesOf = async (projectId: string) => (await log().page({ projectId, limit: 10 })).entries;

test.each([
  'update audit_log set operator = null',
  'update audit_log set operator = null where false',
  'delete from audit_log',
  'truncate audit_log',
])('the database refuses: %s', async (statement) => {
  await create(`kept-${Math.random().toString(36).slice(2)}`);
  const before = await log().page({ limit: 100 });
  await expect(database.pool.query(statement)).rejects.toThrow('cannot be changed or deleted');
  expect(await log().page({ limit: 100 })).toEqual(before);
});

test('ten calls for one project make one project and one entry', async () => {
  const created = await Promise.all(Array.from({ length: 10 }, () => create('shop')));
  expect(created.filter((project) => project !== null)).toHaveLength(1);
  expect(await entriesOf('shop')).toHaveLength(1);
});

test('a process that dies before the commit leaves neither the change nor its entry', async () => {
  const died = log().changeAs(actor, async (on) => {
    await on.createProject({ projectId: 'lost', name: 'lost' });
    await on.record({ action: 'project_created', ...object('lost') });
    await endTransactions();
  });
  await expect(died).rejects.toThrow();
  expect(await projects().find('lost')).toBeNull();
  expect(await entriesOf('lost')).toEqual([]);
});

test('a process that dies after the commit leaves the change and its entry', async () => {
  await create('kept');
  await endTransactions();
  expect(await projects().find('kept')).not.toBeNull();
  expect(await entriesOf('kept')).toHaveLength(1);
});

const object = (projectId: string) => ({
  ...{ projectId, objectId: projectId },
  ...{ fieldsBefore: [], fieldsAfter: [] },
});

/** As if the process of every other connection had died. */
async function endTransactions(): Promise<void> {
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}
