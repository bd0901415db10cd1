import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { createRetentionStore } from '../../../systems/postgres/maintenance/retention-store.ts';
import {
  type ApiFixture,
  type ApiProcess,
  openApiFixture,
  type Tenant,
} from '../../support/api-fixture.ts';
import { snapshotOf } from '../../support/snapshot-of.ts';
import { openStream } from '../../support/sse-client.ts';
import { caller } from './call.ts';
import { output, triggerRun } from './log-writer.ts';
import { dayMs, kept, retentionOf, start } from './retention-fixture.ts';

type Retention = ReturnType<typeof retentionOf>;
let fixture: ApiFixture;
let api: ApiProcess;
let tenant: Tenant;
let call: ReturnType<typeof caller>;
let timeIs: Retention['timeIs'];
let sweep: Retention['sweep'];
let isStored: Retention['isStored'];
let putBlob: Retention['putBlob'];

beforeAll(async () => {
  fixture = await openApiFixture();
  ({ timeIs, sweep, isStored, putBlob } = retentionOf(fixture));
  await timeIs(0);
  api = await fixture.start();
  tenant = await fixture.tenant();
  call = caller(api, tenant.key);
});
afterAll(() => fixture.close());

/** An ended run with a log and a file, all dated now. */
async function endedRun(body: object = {}) {
  const log = await triggerRun(fixture, { ...api, ...tenant }, body);
  await log.write([output('one'), output('two')]);
  const file = await storeFile(log.runId);
  await log.end();
  return { ...log, ...file, path: `/api/v1/runs/${log.runId}` };
}

async function storeFile(runId: string) {
  const content = Buffer.from(`content of ${runId}`);
  const sha256 = await putBlob(content.toString());
  const blob = { sha256, size: content.length };
  const entry = { ...blob, path: 'a.txt', mode: 0o644, scope: 'run' as const };
  const snapshot = snapshotOf([{ ...entry, modifiedAt: new Date(start) }]);
  await fixture.stores.files.replaceSnapshot({ runId, generation: 1 }, snapshot);
  return { sha256, content };
}

const lines = async (path: string): Promise<number> =>
  (await call(`${path}/logs?format=structured&channel=all`)).json.data.entries.length;

test('keeps log and files for 30 days after the end, and the record forever', async () => {
  await timeIs(0);
  const run = await endedRun();
  await timeIs(kept.runMs);
  await sweep();
  expect(await lines(run.path)).toBe(2);
  expect((await call(`${run.path}/files/a.txt`)).text).toBe(run.content.toString());

  await timeIs(kept.runMs + 1);
  await sweep();
  const logs = await call(`${run.path}/logs?format=structured&channel=all`);
  expect(logs.json.data).toMatchObject({ entries: [], complete: true });
  expect((await call(`${run.path}/files`)).json.data).toEqual([]);
  expect((await call(`${run.path}/files/a.txt`)).status).toBe(404);
  expect((await call(run.path)).json.data).toMatchObject({ runId: run.runId, exitCode: 0 });
  const stream = await openStream(`${api.url}${run.path}/stream`, { key: tenant.key });
  await stream.closed;
  expect(stream.names()).toEqual(['status', 'finished']);
  const resumed = { key: tenant.key, lastEventId: '1' };
  await (await openStream(`${api.url}${run.path}/stream`, resumed)).closed;
});

test('deletes a log of several batches completely, and nothing of an active run', async () => {
  await timeIs(0);
  const living = await triggerRun(fixture, { ...api, ...tenant });
  await living.write([output('alive')]);
  const long = await triggerRun(fixture, { ...api, ...tenant });
  await long.write(Array.from({ length: 2_500 }, (_, n) => output(`line ${n}`)));
  await long.end();
  await timeIs(400 * dayMs);
  await sweep();
  expect(await lines(`/api/v1/runs/${long.runId}`)).toBe(0);
  expect(await lines(`/api/v1/runs/${living.runId}`)).toBe(1);
});

test('keeps files and conversation of a session for 7 days after its end, its log for 30', async () => {
  await timeIs(0);
  const opened = await call(`/api/v1/flows/${tenant.flowId}/sessions`, { body: {} });
  const { runId, sessionId } = opened.json.data;
  const { sha256 } = await storeFile(runId);
  await fixture.database.pool.query(
    `with transcript as (
       insert into session_transcripts (run_id, path, sha256, size, mode, modified_at)
       values ($1, 'conversation.jsonl', decode($2, 'hex'), 1, 420, db_clock())
     )
     insert into transcript_segments (run_id, path, at, sha256, size)
     values ($1, 'conversation.jsonl', 0, decode($2, 'hex'), 1)`,
    [runId, sha256],
  );
  const ended = await call(`/api/v1/flows/${tenant.flowId}/sessions/${sessionId}`, {
    method: 'DELETE',
  });
  expect(ended.status).toBe(200);
  await fixture.stores.runs.endRun({ runId, cause: 'stopped_by_api', detail: null, exitCode: 0 });
  await timeIs(kept.sessionFilesMs);
  await sweep();
  expect((await call(`/api/v1/runs/${runId}/files`)).json.data).toHaveLength(1);
  await timeIs(kept.sessionFilesMs + 1);
  await sweep();
  expect((await call(`/api/v1/runs/${runId}/files`)).json.data).toEqual([]);
  const { rows } = await fixture.database.pool.query(
    `select from session_transcripts where run_id = $1
     union all select from transcript_segments where run_id = $1`,
    [runId],
  );
  expect(rows).toEqual([]);
});

test('removes a deleted run after a day, when its idempotency key is free', async () => {
  await timeIs(0);
  const key = randomUUID();
  const run = await endedRun({ idempotencyKey: key });
  await timeIs(1_000);
  expect((await call(run.path, { method: 'DELETE' })).status).toBe(200);
  await timeIs(dayMs - 1);
  await sweep();
  const again = { body: { prompt: 'Go', idempotencyKey: key } };
  const replay = await call(`/api/v1/flows/${tenant.flowId}/runs`, again);
  expect(replay).toMatchObject({ status: 200, json: { data: { runId: run.runId } } });

  await timeIs(dayMs + 1_001);
  await sweep();
  const { rows } = await fixture.database.pool.query(
    `select 'run' as what from runs where id = $1
     union all select 'frame' from frames where run_id = $1
     union all select 'file' from run_files where run_id = $1`,
    [run.runId],
  );
  expect(rows).toEqual([]);
  const fresh = await call(`/api/v1/flows/${tenant.flowId}/runs`, again);
  expect(fresh.status).toBe(201);
  expect(fresh.json.data.runId).not.toBe(run.runId);
});

test('keeps a deleted run while its webhook is pending', async () => {
  await timeIs(0);
  const run = await endedRun({ callbackUrl: 'https://127.0.0.1:9443/hook' });
  await call(run.path, { method: 'DELETE' });
  await timeIs(40 * dayMs);
  await sweep();
  expect(await fixture.stores.runs.find(run.runId)).toMatchObject({
    webhook: { state: 'pending' },
  });
});

test('deletes an unreferenced blob after three hours, unless it was reused lately', async () => {
  await timeIs(0);
  const named = await endedRun();
  const lost = await putBlob('lost');
  const found = await putBlob('found');
  await timeIs(limits.blob.unreferencedTtlMs);
  await sweep();
  expect(await isStored(found)).toBe(true);
  await timeIs(limits.blob.unreferencedTtlMs + 1);
  await sweep();
  expect(await isStored(lost)).toBe(false);
  expect(await isStored(found)).toBe(true);
  expect(await isStored(named.sha256)).toBe(true);
  await putBlob('lost');
  await sweep();
  expect(await isStored(lost)).toBe(true);
});

test('a blob that is stored during garbage collection stays complete', async () => {
  const retention = createRetentionStore(fixture.database.pool);
  for (let round = 0; round < 30; round += 1) {
    await timeIs(0);
    const sha256 = await putBlob(`raced ${round}`);
    await timeIs(2 * dayMs);
    await Promise.all([retention.removeBlobs(dayMs, ''), putBlob(`raced ${round}`)]);
    const parts = await Readable.from(fixture.stores.blobs.read(sha256)).toArray();
    expect(Buffer.concat(parts).toString()).toBe(`raced ${round}`);
  }
});

test('keeps webhook attempts for 30 days', async () => {
  await timeIs(0);
  const run = await endedRun({ callbackUrl: 'https://127.0.0.1:9443/hook' });
  const { pool } = fixture.database;
  const attempts = async () =>
    (await pool.query('select from webhook_attempts where run_id = $1', [run.runId])).rowCount;
  await pool.query('insert into webhook_attempts (run_id, attempt) values ($1, 1)', [run.runId]);
  await timeIs(kept.webhookAttemptsMs);
  await sweep();
  expect(await attempts()).toBe(1);
  await timeIs(kept.webhookAttemptsMs + 1);
  await sweep();
  expect(await attempts()).toBe(0);
});
