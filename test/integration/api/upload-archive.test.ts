// Archives that are sent to a run: as tar programs write them, and as an attacker would.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { type Answer, caller } from './call.ts';
import { folderEntry, hostileArchives, hostileGzips } from './hostile-archives.ts';
import { archive, records } from './tar-builder.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, tenant, call, open } = useSessions();
const run = promisify(execFile);
const contents: Record<string, string> = {
  'a.txt': 'a',
  'dir/ü x/empty': '',
  [`long/${'y'.repeat(90)}/${'z'.repeat(90)}`]: 'long',
  '.flowignore': 'own/\n',
  'own/b': 'b',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'upload-'));
  for (const [path, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode: path === 'a.txt' ? 0o755 : 0o644 });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

async function send(
  runId: string,
  ending: string,
  body: Buffer,
  type = 'application/octet-stream',
) {
  const answer = await fetch(`${api.url}/api/v1/runs/${runId}/files.${ending}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': type },
    body: new Uint8Array(body),
  });
  // Untyped, like that of other calls.
  const json: Answer['json'] = await answer.json();
  return { status: answer.status, json };
}

/** Everything that an archive could change. */
async function stored(): Promise<unknown> {
  const { rows } = await fixture.database.pool.query(
    `select (select count(*) from blobs) as blobs, (select count(*) from flow_files) as flow,
            (select count(*) from input_files) as inputs`,
  );
  return rows[0];
}

test.each([
  ['gnu', '.'],
  ['posix', '.'],
  ['ustar', '.'],
  ['posix', ...Object.keys(contents)],
])('takes an archive that GNU tar writes in the format %s', async (format, ...paths) => {
  const { runId } = await open();
  const args = ['-c', `--format=${format}`, '-f', '-', '-C', folder, ...paths];
  const { stdout } = await run('tar', args, { encoding: 'buffer' });
  const put = await send(runId, 'tar', stdout, 'application/x-tar');
  expect(put.status, JSON.stringify(put.json)).toBe(200);
  const scopes = put.json.data.map(({ path, scope }: { path: string; scope: string }) => [
    path,
    scope,
  ]);
  expect(Object.fromEntries(scopes)).toEqual(
    Object.fromEntries(
      Object.keys(contents).map((path) => [path, path === 'own/b' ? 'run' : 'flow']),
    ),
  );
  const back = await fetch(`${api.url}/api/v1/runs/${runId}/files.tar`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  const other = await open();
  const again = await send(other.runId, 'tar.gz', gzipSync(Buffer.from(await back.arrayBuffer())));
  expect(again.status).toBe(200);
  const listed = await call(`/api/v1/runs/${other.runId}/files`);
  const sizes = listed.json.data.map(({ path, size }: { path: string; size: number }) => [
    path,
    size,
  ]);
  expect(Object.fromEntries(sizes)).toEqual(
    Object.fromEntries(Object.entries(contents).map(([path, { length }]) => [path, length])),
  );
  const modes = 'select mode from input_files where run_id = $1 order by path';
  const { rows } = await fixture.database.pool.query<{ mode: number }>(modes, [other.runId]);
  expect(rows.filter(({ mode }) => mode === 0o755)).toHaveLength(1);
});

test('takes an archive that git writes', async () => {
  const { runId } = await open();
  const env = { PATH: process.env['PATH'], HOME: folder };
  const git = (...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a', ...args], {
      encoding: 'buffer',
      env,
    });
  await git('init', '-q');
  await git('add', 'a.txt');
  await git('commit', '-q', '-m', 'a');
  const { stdout } = await git('archive', '--format=tar', 'HEAD');
  rmSync(join(folder, '.git'), { recursive: true });
  const { status, json } = await send(runId, 'tar', stdout);
  expect([status, json.data.length]).toEqual([200, 1]);
});

test('takes the largest file, and as many files and folders as a request may have', async () => {
  const { runId } = await open();
  const largest = archive({ content: Buffer.alloc(limits.file.maxBytes) });
  expect((await send(runId, 'tar', largest)).status).toBe(200);
  const most = Array.from({ length: limits.file.perRequestMax }, (_, n) => ({ name: `n/${n}` }));
  expect((await send(runId, 'tar.gz', gzipSync(archive(...most)))).status).toBe(200);
  const rest = limits.http.archiveEntriesMax - most.length;
  const folders = Array.from({ length: rest }, (_, n) => folderEntry(n));
  expect((await send(runId, 'tar.gz', gzipSync(archive(...folders, ...most)))).status).toBe(200);
  const comment = 'x'.repeat(limits.http.archiveRecordsMaxBytes - '524288 comment=\n'.length);
  const recorded = archive(records(['comment', comment]), { content: 'a' });
  expect((await send(runId, 'tar', recorded)).status).toBe(200);
});

const cases = [
  ...hostileArchives.map((each) => ['tar', ...each] as const),
  ...hostileGzips.map((each) => ['tar.gz', ...each] as const),
];

test('rejects every hostile archive with a reason, and stores nothing of it', async () => {
  const { runId } = await open();
  const before = await stored();
  expect(cases.length).toBeGreaterThanOrEqual(40);
  for (const [ending, title, body, message] of cases) {
    const { status, json } = await send(runId, ending, body);
    const isTooLarge = /too large/.test(message.source) && ending === 'tar.gz';
    expect([title, status, json.error.code]).toEqual([
      title,
      isTooLarge ? 413 : 400,
      isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR',
    ]);
    expect(json.error.message, title).toMatch(message);
  }
  expect(await stored()).toEqual(before);
});

test('rejects other types, bodies over the limit, ended runs and the keys of other projects', async () => {
  const { runId } = await open();
  const body = archive({ content: 'a' });
  const path = `/api/v1/runs/${runId}/files.tar`;
  expect((await send(runId, 'tar', body, 'application/json')).status).toBe(415);
  expect((await send(runId, 'tar', body, 'text/plain')).status).toBe(415);
  const tooLarge = Buffer.alloc(limits.http.archiveMaxBytes + 1);
  expect((await send(runId, 'tar', tooLarge)).status).toBe(413);
  const other = await fixture.tenant();
  const headers = { 'content-type': 'application/x-tar' };
  const refused = await caller(api, other.key)(path, {
    method: 'PUT',
    body: body.toString(),
    headers,
  });
  expect([refused.status, refused.json.error.code]).toEqual([403, 'UNAUTHORIZED']);
  await call(`/api/v1/runs/${runId}/stop`, { body: {} });
  await fixture.database.pool.query(
    `update runs set ended_at = now(), status = 'sleep', end_cause = 'stopped_by_api' where id = $1`,
    [runId],
  );
  expect((await send(runId, 'tar', body)).status).toBe(400);
});
