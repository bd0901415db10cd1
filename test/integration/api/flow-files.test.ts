// The input files of a request, and their effect on the files of the flow.

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { type Answer, caller } from './call.ts';
import { miB, useGivenFiles, utf8 } from './input-file-requests.ts';

const { fixture, api, tenant, call, trigger, filesOf, pathsOf, storage, counts } = useGivenFiles();

test("shows a run's files from its admission on", async () => {
  const made = await trigger([
    utf8('z.txt'),
    { path: 'bin/ünï x', content: 'AAEC/w==', encoding: 'base64', mode: '0755' },
    utf8('empty', ''),
  ]);
  expect(made.status).toBe(201);
  const listed = await filesOf(made);
  expect(listed).toMatchObject([
    { path: 'bin/ünï x', name: 'ünï x', type: 'file', size: 4, scope: 'flow' },
    { path: 'empty', size: 0 },
    { path: 'z.txt', size: 5 },
  ]);
  const file = await fetch(
    `${api.url}/api/v1/runs/${made.json.data.runId}/files/bin/%C3%BCn%C3%AF%20x`,
    {
      headers: { authorization: `Bearer ${tenant.key}` },
    },
  );
  expect(Buffer.from(await file.arrayBuffer()).toString('hex')).toBe('000102ff');
  expect(await storage()).toEqual({ usedBytes: 9, limitBytes: 500 * miB });
  expect(await pathsOf(await trigger(undefined))).toEqual(['bin/ünï x', 'empty', 'z.txt']);
});

test('a rejected run stores no files, and a replay stores none again', async () => {
  const { pool } = fixture.database;
  const full = await fixture.tenant({ maxConcurrentRuns: 0 });
  const blobs = async () => (await pool.query('select from blobs')).rowCount;
  const before = await blobs();
  const refused = await caller(api, full.key)(`/api/v1/flows/${full.flowId}/runs`, {
    body: { prompt: 'Go', files: [utf8('a', randomUUID())] },
  });
  expect(refused.status).toBe(429);
  const { rows } = await pool.query('select from flow_files where flow_id = $1', [full.flowId]);
  expect(rows).toEqual([]);
  expect(await blobs()).toBe(before);
  // Errors that do not depend on the cap are reported first.
  await pool.query('update flows set storage_bytes = $2 where id = $1', [
    full.flowId,
    limits.flow.storageBytes,
  ]);
  const tooMuch = await caller(api, full.key)(`/api/v1/flows/${full.flowId}/runs`, {
    body: { prompt: 'Go', files: [utf8('a')] },
  });
  expect([tooMuch.status, tooMuch.json.error.limit]).toEqual([400, limits.flow.storageBytes]);

  const key = { idempotencyKey: randomUUID() };
  const first = await trigger([utf8('a', 'first')], key);
  const again = await trigger([utf8('a', 'second'), utf8('b')], key);
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(await pathsOf(again)).toEqual(['a']);
  expect(await storage()).toMatchObject({ usedBytes: 5 });
});

test("a run keeps its flow's files as of its admission", async () => {
  const first = await trigger([utf8('a', 'one'), utf8('b', 'one')]);
  const second = await trigger([utf8('a', 'two'), utf8('c', 'two')]);
  const third = await trigger([utf8('b', 'three')]);
  const read = async ({ json }: Answer) =>
    Object.fromEntries(
      await Promise.all(
        (await fixture.stores.files.listSeed(json.data.runId)).map(async ({ path, sha256 }) => [
          path,
          await text(Readable.from(fixture.stores.blobs.read(sha256))),
        ]),
      ),
    );
  expect(await read(first)).toEqual({ a: 'one', b: 'one' });
  expect(await read(second)).toEqual({ a: 'two', b: 'one', c: 'two' });
  expect(await read(third)).toEqual({ a: 'two', b: 'three', c: 'two' });
  expect(await counts()).toMatchObject({ files: 5 });

  // Once no run uses them, the next change removes files that no version of the flow keeps.
  const { pool } = fixture.database;
  await pool.query(
    `update runs set ended_at = now(), status = 'sleep', end_cause = 'completed' where flow_id = $1`,
    [tenant.flowId],
  );
  await pool.query('update flows set files_kept_from = files_version where id = $1', [
    tenant.flowId,
  ]);
  await trigger([utf8('d', 'four')]);
  expect(await counts()).toMatchObject({ files: 4 });
});

test("each run gets one consistent version of the flow's files under concurrent changes", async () => {
  await trigger([utf8('x', '0'), utf8('y', '0')]);
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      n % 2 ? trigger([]) : trigger([utf8('x', `${n}`), utf8('y', `${n}`)]),
    ),
  );
  for (const { json, status } of made) {
    expect(status).toBe(201);
    const seed = await fixture.stores.files.listSeed(json.data.runId);
    expect(seed.map(({ path }) => path)).toEqual(['x', 'y']);
    expect(new Set(seed.map(({ sha256 }) => sha256)).size).toBe(1);
  }
});

describe('adding files to a run', () => {
  test('is 503 before its start, and rejected after its end', async () => {
    const { json } = await trigger([]);
    const { runId } = json.data;
    const put = () => call(`/api/v1/runs/${runId}/files`, { body: { files: [utf8('a')] } });
    const early = await put();
    expect(early).toMatchObject({ status: 503, json: { error: { code: 'UPSTREAM_UNAVAILABLE' } } });
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    await fixture.database.pool.query(
      `update runs set ended_at = now(), status = 'sleep', end_cause = 'completed' where id = $1`,
      [runId],
    );
    expect(await put()).toMatchObject({
      status: 400,
      json: { error: { code: 'VALIDATION_ERROR' } },
    });
    expect(await counts()).toMatchObject({ files: 0 });
  });

  test("takes a body like a trigger's, but not an empty one", async () => {
    const { json } = await trigger([]);
    const url = `/api/v1/runs/${json.data.runId}/files`;
    for (const body of [
      {},
      { files: [] },
      { files: [utf8('../a')] },
      { files: [utf8('a')], x: 1 },
    ]) {
      expect((await call(url, { body })).status).toBe(400);
    }
    const other = await fixture.tenant();
    const foreign = await caller(api, other.key)(url, { body: { files: [utf8('a')] } });
    expect(foreign.status).toBe(403);
    expect(
      (await call(`/api/v1/runs/${randomUUID()}/files`, { body: { files: [utf8('a')] } })).status,
    ).toBe(404);
  });
});
