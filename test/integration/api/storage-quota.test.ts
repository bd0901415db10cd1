// The storage quota of a project: what counts, what is rejected once it is used up, and what frees
// it.

import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BlobOwner } from '../../../systems/postgres/files/put-blob.ts';
import { createRetentionStore } from '../../../systems/postgres/maintenance/retention-store.ts';
import type { ApiProcess, Tenant } from '../../support/api-fixture.ts';
import { purgeAll } from '../../support/purge-all.ts';
import { type Answer, caller } from './call.ts';
import { digestOf } from './run-files.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, chatOf, sessionsOf } = useSessions();
let other: ApiProcess;
beforeAll(async () => {
  other = await fixture.start();
});

const runsOf = ({ flowId }: Tenant): string => `/api/v1/flows/${flowId}/runs`;
const trigger = (of: Tenant, body: object = { prompt: 'Go' }, process = api): Promise<Answer> =>
  caller(process, of.key)(runsOf(of), { body });
const stored = ({ projectId }: Tenant) => fixture.stores.projects.storedBytes(projectId);

async function put({ projectId }: Tenant, content: Buffer, kind: BlobOwner['kind'] = 'files') {
  const id = { sha256: digestOf(content), size: content.length };
  await fixture.stores.blobs.put(Readable.from([content]), id, { of: { projectId }, kind });
}

const usedUp = (limit: number, current: number) => [
  400,
  {
    error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('quota'), limit, current },
  },
];
const answerOf = ({ status, json }: Answer) => [status, json];
const nothing = { files: 0, transcripts: 0, logs: 0, messages: 0 };

async function countRuns({ projectId }: Tenant): Promise<number> {
  const text = 'select count(*)::int as n from runs where project_id = $1';
  return (await fixture.database.pool.query(text, [projectId])).rows[0].n;
}

const file = (content: Buffer, path = `${randomUUID()}.bin`) => ({
  ...{ path, content: content.toString('base64'), encoding: 'base64' },
});

describe('a project whose storage quota is used up', () => {
  test('accepts at one byte less, and rejects runs, sessions, messages and files at the quota', async () => {
    const tenant = await fixture.tenant({ storageQuotaBytes: 1_000 });
    const call = caller(api, tenant.key);
    const run = await trigger(tenant);
    const session = (await call(sessionsOf(tenant), { body: { sessionId: 'open' } })).json.data;
    const say = (body: object = {}) =>
      chatOf(tenant)({ message: 'Hi', sessionId: 'open', ...body });
    const said = await say({ clientMessageId: 'first' });
    expect(said.status).toBe(202);
    await put(tenant, randomBytes(999 - 'GoHi'.length));
    const again = { prompt: 'Go', idempotencyKey: 'again' };
    const accepted = await trigger(tenant, again);
    expect(accepted.status).toBe(201);
    const replayed = accepted.json.data.runId;

    const rejected = usedUp(1_000, 1_001);
    const count = await countRuns(tenant);
    const files = [file(randomBytes(10))];
    const inject = () => call(`/api/v1/runs/${session.runId}/files`, { body: { files } });
    expect(answerOf(await trigger(tenant))).toEqual(rejected);
    expect(answerOf(await trigger(tenant, { prompt: 'Go', files }))).toEqual(rejected);
    expect(answerOf(await say())).toEqual(rejected);
    expect(answerOf(await say({ files }))).toEqual(rejected);
    expect(answerOf(await inject())).toEqual(rejected);
    expect(answerOf(await call(sessionsOf(tenant), { body: {} }))).toEqual(rejected);
    expect(await countRuns(tenant)).toBe(count);
    expect(await stored(tenant)).toMatchObject({ files: 995, messages: 6 });

    // Runs and messages that were accepted before are returned, and can be read.
    expect(await trigger(tenant, again)).toMatchObject({
      ...{ status: 200, json: { data: { runId: replayed } } },
    });
    expect((await say({ clientMessageId: 'first' })).json.data.messageId).toBe(
      said.json.data.messageId,
    );
    const reopened = await call(sessionsOf(tenant), { body: { sessionId: 'open' } });
    expect(reopened.status).toBe(201);
    expect((await call(`/api/v1/runs/${run.json.data.runId}`)).status).toBe(200);

    await fixture.stores.projects.update(tenant.projectId, { storageQuotaBytes: null });
    expect((await trigger(tenant)).status).toBe(201);
  });

  test('rejects all of ten requests at once over two processes, and starts nothing', async () => {
    const tenant = await fixture.tenant({ storageQuotaBytes: 500 });
    await put(tenant, randomBytes(500));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => trigger(tenant, undefined, n % 2 ? api : other)),
    );
    for (const answer of answers) expect(answerOf(answer)).toEqual(usedUp(500, 500));
    expect(await countRuns(tenant)).toBe(0);
  });

  test('does not affect another project', async () => {
    const full = await fixture.tenant({ storageQuotaBytes: 0 });
    expect(answerOf(await trigger(full))).toEqual(usedUp(0, 0));
    expect((await trigger(await fixture.tenant())).status).toBe(201);
  });
});

describe('the stored bytes of a project', () => {
  test('are counted once per content and kind, in the project that stored it first', async () => {
    const [first, second] = [await fixture.tenant(), await fixture.tenant()];
    const shared = randomBytes(100);
    await Promise.all(Array.from({ length: 10 }, () => put(first, shared)));
    await put(second, shared);
    await put(second, randomBytes(30), 'transcripts');
    await put(second, randomBytes(3 * 1024 ** 2));
    expect(await stored(first)).toEqual({ ...nothing, files: 100 });
    expect(await stored(second)).toEqual({ ...nothing, files: 3 * 1024 ** 2, transcripts: 30 });
  });

  test('include the files of requests and the data of frames, and are freed with them', async () => {
    const tenant = await fixture.tenant();
    const content = randomBytes(1_234);
    const made = await trigger(tenant, { prompt: 'Go', files: [file(content)] });
    const { runId } = made.json.data;
    const data = JSON.stringify({ text: 'x ü\n' });
    const frames = [0, 1, 2].map(() => ({ event: 'output', channel: 'output', data }) as const);
    await fixture.stores.frames.appendOwn({ runId, frames });
    await fixture.stores.frames.appendOwn({ runId, frames: [] });
    const text = 'select sum(octet_length(data))::int as bytes from frames where run_id = $1';
    const [row] = (await fixture.database.pool.query<{ bytes: number }>(text, [runId])).rows;
    expect(row?.bytes).toBe(3 * Buffer.byteLength(data));
    const all = { ...nothing, files: 1_234, logs: row?.bytes, messages: 2 };
    expect(await stored(tenant)).toEqual(all);

    await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    const retention = createRetentionStore(fixture.database.pool);
    expect(await retention.storedBytes()).toBeGreaterThan(0);
    expect(await stored(tenant)).toEqual(all);
    await fixture.database.pool.query(
      `update runs set ended_at = ended_at - interval '1 day' where id = $1`,
      [runId],
    );
    await purgeAll((unpurged) => retention.logs(1_000, unpurged));
    await purgeAll((unpurged) => retention.runFiles(1_000, unpurged));
    expect(await stored(tenant)).toMatchObject({ logs: 0 });
    await fixture.database.pool.query(
      `delete from flow_files where flow_id = $1; update blobs set created_at = created_at - interval '1 day'`.replace(
        '$1',
        `'${tenant.flowId}'`,
      ),
    );
    await retention.removeBlobs(1_000, '');
    expect(await stored(tenant)).toEqual({ ...nothing, messages: 2 });
  });

  test('include prompts and messages, and are freed with them', async () => {
    const tenant = await fixture.tenant();
    const { stores, database } = fixture;
    const made = (await trigger(tenant, { prompt: 'Grüße' })).json.data.runId;
    const { sessionId, runId } = (await chatOf(tenant)({ message: 'Hi ü' })).json.data;
    await chatOf(tenant)({ message: 'Wait', sessionId });
    expect(await stored(tenant)).toEqual({ ...nothing, messages: 7 + 5 + 4 });

    for (const id of [made, runId])
      await stores.runs.endRun({ runId: id, cause: 'completed', detail: null, exitCode: 0 });
    await database.pool.query(`update runs set ended_at = ended_at - interval '1 day'`);
    const retention = createRetentionStore(database.pool);
    await purgeAll((unpurged) => retention.logs(1_000, unpurged));
    expect(await stored(tenant)).toMatchObject({ messages: 7 });
    await stores.runs.markDeleted(made);
    await database.pool.query(`update runs set deleted_at = deleted_at - interval '1 day'`);
    await purgeAll((unpurged) => retention.tombstone(1_000, unpurged));
    expect(await stored(tenant)).toMatchObject({ messages: 0 });
  });

  test('are freed with a deleted session whose log is stored', async () => {
    const tenant = await fixture.tenant();
    const { runId } = (await chatOf(tenant)({ message: 'Hi' })).json.data;
    const end = { runId, cause: 'deleted_by_api', detail: null, exitCode: null } as const;
    await fixture.stores.runs.endRun(end);
    await fixture.stores.runs.markDeleted(runId);
    expect(await stored(tenant)).toMatchObject({ messages: 2 });
    const { pool } = fixture.database;
    await pool.query(`update runs set deleted_at = deleted_at - interval '1 day'`);
    const retention = createRetentionStore(pool);
    await purgeAll((unpurged) => retention.tombstone(1_000, unpurged));
    expect((await pool.query('select from runs where id = $1', [runId])).rowCount).toBe(0);
    const { logs: _ofItsEvents, ...left } = await stored(tenant);
    expect(left).toEqual({ files: 0, transcripts: 0, messages: 0 });
  });

  test('are summed exactly, although several processes add changes at once', async () => {
    const tenant = await fixture.tenant();
    const retention = createRetentionStore(fixture.database.pool);
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        await put(tenant, randomBytes(10));
        await retention.storedBytes();
      }),
    );
    expect(await stored(tenant)).toMatchObject({ files: 400 });
    await retention.storedBytes();
    const left = 'select from stored_bytes_changes';
    expect((await fixture.database.pool.query(left)).rowCount).toBe(0);
    expect(await stored(tenant)).toMatchObject({ files: 400 });
  });
});
