// The input files of requests are deleted like all other data of their run, and so are their blobs.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { utf8 } from './input-file-requests.ts';
import { dayMs, kept, retentionOf, sha256Of } from './retention-fixture.ts';
import { sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, tenant, call, chat, sessionsOf, open, messages } = useSessions();
let retention: ReturnType<typeof retentionOf>;
beforeAll(() => {
  retention = retentionOf(fixture);
});
beforeEach(async () => {
  await retention.timeIs(0);
  Object.assign(tenant, await fixture.tenant());
});

const ignore = utf8('.flowignore', '*.mine');
const runs = () => `/api/v1/flows/${tenant.flowId}/runs`;

async function endedRun(files: unknown[]): Promise<string> {
  const { json } = await call(runs(), { body: { prompt: 'Go', files } });
  await endRun(json.data.runId);
  return `/api/v1/runs/${json.data.runId}`;
}

const endRun = (runId: string) =>
  fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });

async function pathsOf(run: string): Promise<string[]> {
  return (await call(`${run}/files`)).json.data.map(({ path }: { path: string }) => path);
}

async function countRows(table: 'input_files' | 'message_files' | 'interactions', runId: string) {
  const of = table === 'message_files' ? 'join session_messages m on m.id = t.message_id' : '';
  const text = `select count(*)::int as n from ${table} t ${of} where run_id = $1`;
  return (await fixture.database.pool.query<{ n: number }>(text, [runId])).rows[0]?.n;
}

test('keeps the input files of a run for 30 days after its end, with their blobs', async () => {
  const { timeIs, sweep, isStored } = retention;
  await endedRun([ignore]);
  const run = await endedRun([utf8('in.mine', 'for one run')]);
  await timeIs(kept.runMs);
  await sweep();
  expect(await pathsOf(run)).toEqual(['.flowignore', 'in.mine']);
  const retried = await call(`${run}/retry`, { method: 'POST' });
  expect(await pathsOf(`/api/v1/runs/${retried.json.data.runId}`)).toContain('in.mine');
  await endRun(retried.json.data.runId);

  await timeIs(kept.runMs + 1);
  await sweep();
  expect(await pathsOf(run)).toEqual([]);
  expect(await countRows('input_files', run.slice('/api/v1/runs/'.length))).toBe(0);
  expect(await isStored(sha256Of('for one run'))).toBe(true);
  await timeIs(2 * kept.runMs + dayMs);
  await sweep();
  expect(await isStored(sha256Of('for one run'))).toBe(false);
  expect(await isStored(sha256Of('*.mine'))).toBe(true);
  expect((await call(run)).json.data).toMatchObject({ prompt: 'Go' });
});

test('rejects a retry whose input files are deleted, unless it supplies files', async () => {
  const { timeIs, sweep } = retention;
  const bare = await endedRun([]);
  const run = await endedRun([ignore, utf8('in.mine', 'once')]);
  await timeIs(kept.runMs + 1);
  await sweep();
  const late = await call(`${run}/retry`, { method: 'POST' });
  expect([late.status, late.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(late.json.error.message).toMatch(/^body\.files: /);
  const supplied = { body: { files: [utf8('in.mine', 'again')] } };
  expect((await call(`${run}/retry`, supplied)).status).toBe(201);
  expect((await call(`${bare}/retry`, { method: 'POST' })).status).toBe(201);
});

test('answers a repeated retry with its run after the input files are deleted', async () => {
  const { timeIs, sweep } = retention;
  const run = await endedRun([ignore, utf8('in.mine', 'once')]);
  await timeIs(kept.runMs);
  const retry = () =>
    call(`${run}/retry`, { method: 'POST', headers: { 'idempotency-key': 'retry-2' } });
  const first = await retry();
  expect(first.status).toBe(201);
  await timeIs(kept.runMs + 1);
  await sweep();
  const again = await retry();
  expect([again.status, again.json.data.runId]).toEqual([200, first.json.data.runId]);
});

test('deletes the files of a message after its turn, and keeps them in the session', async () => {
  const { sweep } = retention;
  const { sessionId, runId } = await open();
  await chat({ message: 'Look.', sessionId, files: [ignore, utf8('of.mine', 'of a message')] });
  const worker = sessionWorker(fixture, runId);
  await worker.begin();
  await worker.writeFiles();
  await sweep();
  expect(await countRows('message_files', runId)).toBe(2);
  await worker.end('Seen.');
  await sweep();
  expect(await countRows('message_files', runId)).toBe(0);
  await worker.sleep();
  expect(await pathsOf(`/api/v1/runs/${runId}`)).toEqual(['.flowignore', 'of.mine']);
});

test('deletes the files of a session after 7 days, and its messages and questions after 30', async () => {
  const { timeIs, sweep, isStored } = retention;
  const { sessionId, runId } = await open();
  const body = { message: 'Look.', sessionId, clientMessageId: 'one' };
  await chat({ ...body, files: [ignore, utf8('of.mine', 'of a session')] });
  const worker = sessionWorker(fixture, runId);
  await worker.begin();
  await worker.writeFiles();
  await worker.end('Seen.');
  await fixture.database.pool.query(
    `insert into interactions (run_id, id, tool_name, input) values ($1, 'q', 'Ask', '{}')`,
    [runId],
  );
  await call(`${sessionsOf()}/${sessionId}`, { method: 'DELETE' });
  await endRun(runId);
  await timeIs(kept.sessionFilesMs);
  await sweep();
  expect(await countRows('input_files', runId)).toBe(2);
  await timeIs(kept.sessionFilesMs + 1);
  await sweep();
  expect(await countRows('input_files', runId)).toBe(0);
  expect(await isStored(sha256Of('of a session'))).toBe(false);

  await timeIs(kept.runMs);
  await sweep();
  const beforeEnd = await chat(body);
  expect([await messages(runId), await countRows('interactions', runId)]).toEqual([1, 1]);
  await timeIs(kept.runMs + 1);
  await sweep();
  expect([await messages(runId), await countRows('interactions', runId)]).toEqual([0, 0]);
  const { status, json } = await chat(body);
  expect([status, json.error.code]).toEqual([beforeEnd.status, beforeEnd.json.error.code]);
  expect((await call(`${sessionsOf()}/${sessionId}`)).json.data).toMatchObject({ runId });
});

test('deletes a superseded file of a flow when no active run and no version needs it', async () => {
  const { timeIs, sweep, isStored } = retention;
  const first = await call(runs(), { body: { prompt: 'Go', files: [utf8('a', 'superseded')] } });
  await endRun(first.json.data.runId);
  await fixture.database.pool.query('delete from input_files where run_id = $1', [
    first.json.data.runId,
  ]);
  const active = await call(runs(), { body: { prompt: 'Go' } });
  const other = await call(runs(), { body: { prompt: 'Go', files: [utf8('a', 'newest')] } });
  await timeIs(2 * dayMs);
  await sweep();
  expect(await isStored(sha256Of('superseded'))).toBe(true);
  await endRun(active.json.data.runId);
  await endRun(other.json.data.runId);
  // Each check refreshes the blob.
  await timeIs(4 * dayMs);
  await sweep();
  expect(await isStored(sha256Of('superseded')), 'a version keeps it').toBe(true);
  await fixture.database.pool.query('update flows set files_kept_from = files_version');
  await timeIs(6 * dayMs);
  await sweep();
  expect(await isStored(sha256Of('superseded'))).toBe(false);
  expect(await isStored(sha256Of('newest'))).toBe(true);
  expect(await pathsOf(`/api/v1/runs/${other.json.data.runId}`)).toEqual(['a']);
});

/** Holds rows until `release`, so that what needs them waits. */
async function lockRows(text: string, values: unknown[]) {
  const other = await fixture.database.pool.connect();
  await other.query('begin');
  await other.query(text, values);
  return async () => {
    await other.query('rollback');
    other.release();
  };
}

async function untilWaiting(count: number): Promise<void> {
  const text = `select from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await fixture.database.pool.query(text)).rowCount).toBe(count);
}

test('a retry that comes while its input files are deleted does not start without them', async () => {
  const run = await endedRun([ignore, utf8('in.mine', 'for a race')]);
  await retention.timeIs(kept.runMs + 1);
  const lock = "select from input_files where path = 'in.mine' and run_id = $1 for update";
  const release = await lockRows(lock, [run.slice('/api/v1/runs/'.length)]);
  const sweeping = retention.sweep();
  await untilWaiting(1);
  const retrying = call(`${run}/retry`, { method: 'POST' });
  await untilWaiting(2);
  await release();
  const late = await retrying;
  expect([late.status, late.json.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
  await sweeping;
});

test('a retry that came before its input files are deleted starts with all of them', async () => {
  const run = await endedRun([ignore, utf8('in.mine', 'for another race')]);
  await retention.timeIs(kept.runMs + 1);
  const release = await lockRows('select from flows where id = $1 for update', [tenant.flowId]);
  const retrying = call(`${run}/retry`, { method: 'POST' });
  await untilWaiting(1);
  await retention.sweepUnlocked(); // skips the run, because the retry has locked it
  expect(await pathsOf(run)).toContain('in.mine');
  await release();
  const retried = await retrying;
  expect(retried.status).toBe(201);
  await retention.sweep();
  expect(await pathsOf(`/api/v1/runs/${retried.json.data.runId}`)).toContain('in.mine');
  expect(await pathsOf(run)).toEqual([]);
});
