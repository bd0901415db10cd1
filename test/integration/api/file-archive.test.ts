// The archive of a run's files, as GNU tar reads it.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { caller } from './call.ts';
import { contents, digestOf, modifiedAt, useRunFiles } from './run-files.ts';

const { fixture, api, tenant, files, call } = useRunFiles();
const paths = Object.keys(contents).sort();
const run = promisify(execFile);

const ask = (ending: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${api.url}${files()}.${ending}`, {
    method,
    headers: { authorization: `Bearer ${tenant.key}`, ...headers },
  });

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

async function unpack(archive: Buffer, ...options: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'archive'), archive);
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TZ: 'UTC' };
  const { stdout } = await run('tar', ['-f', 'archive', ...options], {
    ...{ cwd: folder, env, maxBuffer: 8 * 1024 ** 2 },
  });
  return stdout;
}

const listed = async (archive: Buffer) =>
  (await unpack(archive, '-t', '--quoting-style=literal')).trimEnd().split('\n');

test('has every file in the order of the list, with its content, mode and time', async () => {
  const answer = await ask('tar');
  const archive = await bytesOf(answer);
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/x-tar',
    'content-length': String(archive.length),
    'content-disposition': expect.stringMatching(/^attachment; filename="[0-9a-f-]{36}\.tar"$/),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect(await listed(archive)).toEqual(paths);
  for (const path of paths) {
    const content = await unpack(archive, '-x', '-O', '--', path);
    expect(digestOf(Buffer.from(content)), path).toBe(digestOf(contents[path] ?? Buffer.alloc(0)));
  }
  const [first] = (await unpack(archive, '-tv', '--full-time')).split('\n');
  const time = modifiedAt.toISOString().slice(0, 19).replace('T', ' ');
  expect(first).toMatch(new RegExp(`^-rw-r--r-- 0/0 +10 ${time} a\\.txt$`));
});

test('is the same archive compressed, and the same bytes each time', async () => {
  const [plain, again] = [await bytesOf(await ask('tar')), await bytesOf(await ask('tar'))];
  const answer = await ask('tar.gz');
  expect(answer.headers.get('content-type')).toBe('application/gzip');
  expect(answer.headers.get('content-encoding')).toBeNull();
  expect(answer.headers.get('content-disposition')).toMatch(/\.tar\.gz"$/);
  const compressed = await bytesOf(answer);
  expect(compressed.length).toBeLessThan(plain.length / 10);
  expect(digestOf(gunzipSync(compressed))).toBe(digestOf(plain));
  expect(digestOf(again)).toBe(digestOf(plain));
});

test('has only the files of a scope or below a prefix, and may be empty', async () => {
  expect(await listed(await bytesOf(await ask('tar?scope=flow')))).toEqual(['a.txt']);
  expect(await listed(await bytesOf(await ask('tar?prefix=dir/')))).toEqual(
    paths.filter((path) => path.startsWith('dir/')),
  );
  expect(await unpack(await bytesOf(await ask('tar?prefix=none')), '-t')).toBe('');
  for (const query of ['limit=1', 'cursor=YQ', 'scope=x', 'prefix=%00']) {
    expect((await ask(`tar?${query}`)).status, query).toBe(400);
  }
});

test('answers 304 to the current version, and HEAD without the files', async () => {
  for (const ending of ['tar', 'tar.gz']) {
    const head = await ask(ending, {}, 'HEAD');
    const whole = await ask(ending);
    expect(await bytesOf(head)).toHaveLength(0);
    for (const name of ['etag', 'content-type', 'content-length', 'content-disposition']) {
      expect(head.headers.get(name), name).toBe(whole.headers.get(name));
    }
    await whole.arrayBuffer();
    const etag = head.headers.get('etag') ?? '';
    expect((await ask(ending, { 'if-none-match': etag })).status).toBe(304);
    const filtered = await ask(`${ending}?scope=run`, { 'if-none-match': etag });
    expect(filtered.status).toBe(200);
    await filtered.arrayBuffer();
  }
  expect((await ask('tar', {}, 'HEAD')).headers.get('etag')).not.toBe(
    (await ask('tar.gz', {}, 'HEAD')).headers.get('etag'),
  );
});

test('is not found for an unknown run, and refused for the run of another project', async () => {
  const other = await fixture.tenant();
  for (const ending of ['tar', 'tar.gz']) {
    expect(await caller(api, other.key)(`${files()}.${ending}`)).toMatchObject({
      status: 403,
      json: { error: { code: 'UNAUTHORIZED' } },
    });
    const unknown = files().replace(/[0-9a-f-]{36}/, '00000000-0000-4000-8000-000000000000');
    expect((await call(`${unknown}.${ending}`)).status).toBe(404);
  }
});

test('breaks off if a content is missing, so that no client takes a part for the whole', async () => {
  const { blobs } = fixture.stores;
  const missing = digestOf(contents['dir/z'] ?? Buffer.alloc(0));
  const broken = await fixture.start({
    blobs: {
      ...blobs,
      readSmall: async (ids) => blobs.readSmall(ids.filter((id) => id !== missing)),
      read: (id, range) => blobs.read(id === missing ? '00'.repeat(32) : id, range),
    },
  });
  for (const ending of ['tar', 'tar.gz']) {
    const answer = await fetch(`${broken.url}${files()}.${ending}`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  }
  expect((await caller(broken, tenant.key)(files())).status).toBe(200);
});

test('reads no more from the database than its client takes', async () => {
  const piece = randomBytes(limits.blob.chunkBytes);
  for (const ending of ['tar', 'tar.gz']) {
    const source = endlessBlobs(piece);
    const endless = await fixture.start({ blobs: { ...fixture.stores.blobs, ...source.blobs } });
    const socket = connect(Number(new URL(endless.url).port), '127.0.0.1').pause();
    onTestFinished(() => void socket.destroy());
    const key = `authorization: Bearer ${tenant.key}\r\n`;
    const path = `${files()}.${ending}`;
    socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${key}\r\n`);
    await expect.poll(() => source.isIdle(), { timeout: 30_000 }).toBe(true);
    // The buffers of the connection take a few chunks.
    expect(source.readBytes()).toBeLessThan(20 * piece.length);
    socket.destroy();
    await expect.poll(source.isClosed, { timeout: 30_000 }).toBe(true);
  }
}, 60_000);

/** Blobs without an end. */
function endlessBlobs(piece: Buffer) {
  let readBytes = 0;
  let isClosed = false;
  async function* read(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        readBytes += piece.length;
        yield piece;
      }
    } finally {
      isClosed = true;
    }
  }
  async function isIdle(): Promise<boolean> {
    const before = readBytes;
    await sleep(500);
    return before > 0 && readBytes === before;
  }
  const blobs = { read, readSmall: async () => new Map<string, Buffer>() };
  return { blobs, isIdle, readBytes: () => readBytes, isClosed: () => isClosed };
}
