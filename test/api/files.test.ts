import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ApiProcess,
  type ApiWorld,
  openApiWorld,
  publicUrl,
  type Tenant,
} from './api-world.ts';
import { caller } from './call.ts';

let world: ApiWorld;
let api: ApiProcess;
let tenant: Tenant;
let call: ReturnType<typeof caller>;
let files: string;

const modifiedAt = new Date('2026-11-02T03:04:05.678Z');
const contents: Record<string, Buffer> = {
  'a.txt': Buffer.from('0123456789'),
  empty: Buffer.alloc(0),
  'big.bin': Buffer.alloc(2_500_000, 'abcdefg'),
  'dir/ünï "x"; y.html': Buffer.from('<script>alert(1)</script>'),
  'dir/z': Buffer.from('z'),
};

beforeAll(async () => {
  world = await openApiWorld();
  api = await world.start();
  tenant = await world.tenant();
  call = caller(api, tenant.key);
  const made = await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
  const { runId } = made.json.data;
  files = `/api/v1/runs/${runId}/files`;
  expect((await call(files)).json).toEqual({ data: [] });
  await world.stores.files.replaceSnapshot(
    runId,
    await Promise.all(Object.keys(contents).map(store)),
  );
});
afterAll(() => world.close());

async function store(path: string) {
  const content = contents[path] ?? Buffer.alloc(0);
  const blob = { sha256: digestOf(content), size: content.length };
  await world.stores.blobs.put(Readable.from([content]), blob);
  return {
    ...blob,
    path,
    mode: 0o644,
    scope: path === 'a.txt' ? ('flow' as const) : ('run' as const),
    modifiedAt,
  };
}

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const download = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${api.url}${files}/${path}`, {
    method,
    headers: { authorization: `Bearer ${tenant.key}`, ...headers },
  });

/** Without the tidying that other clients do to a path. */
function asWritten(path: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(api.url);
  const headers = { authorization: `Bearer ${tenant.key}` };
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers, agent: false }, (response) => {
      const status = response.statusCode ?? 0;
      response.toArray().then((parts) => resolve({ status, body: parts.join('') }), reject);
    }).on('error', reject);
  });
}

test('lists the files by path, page by page, by scope and by prefix', async () => {
  const all = await call(files);
  const paths = ({ json }: typeof all) => json.data.map(({ path }: { path: string }) => path);
  expect(paths(all)).toEqual(Object.keys(contents).sort());
  expect(all.json.data[0]).toEqual({
    path: 'a.txt',
    name: 'a.txt',
    type: 'file',
    size: 10,
    sha256: digestOf(Buffer.from('0123456789')),
    scope: 'flow',
    modifiedAt: modifiedAt.toISOString(),
  });
  expect(paths(await call(`${files}?scope=flow`))).toEqual(['a.txt']);
  expect(paths(await call(`${files}?prefix=dir/`))).toEqual(['dir/z', 'dir/ünï "x"; y.html']);

  const seen: string[] = [];
  for (let next: string | undefined = `${files}?limit=2&scope=run`; next; ) {
    const page = await call(next);
    seen.push(...paths(page));
    const link = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
    expect(link === undefined || link.startsWith(`${publicUrl}/api/v1/runs/`)).toBe(true);
    next = link?.slice(publicUrl.length);
  }
  expect(seen).toEqual(Object.keys(contents).sort().slice(1));
});

test('downloads raw bytes that no browser shows', async () => {
  for (const [path, content] of Object.entries(contents)) {
    const answer = await download(path.split('/').map(encodeURIComponent).join('/'));
    expect(answer.status, path).toBe(200);
    expect(digestOf(Buffer.from(await answer.arrayBuffer()))).toBe(digestOf(content));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(content.length),
      'content-disposition': expect.stringMatching(/^attachment; filename\*=UTF-8''[\w.%-]+$/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'accept-ranges': 'bytes',
      etag: `"${digestOf(content)}"`,
    });
  }
  const html = await download('dir/%C3%BCn%C3%AF%20%22x%22%3B%20y.html');
  expect(html.headers.get('content-disposition')).toBe(
    "attachment; filename*=UTF-8''%C3%BCn%C3%AF%20%22x%22%3B%20y.html",
  );
});

test('a HEAD says what a GET would, without the bytes', async () => {
  const answer = await download('big.bin', {}, 'HEAD');
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '2500000']);
  expect(await answer.text()).toBe('');
});

test('answers 304 to who has it already', async () => {
  const etag = `"${digestOf(Buffer.from('0123456789'))}"`;
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const answer = await download('a.txt', { 'if-none-match': known });
    expect([answer.status, answer.headers.get('etag')], known).toEqual([304, etag]);
  }
  expect((await download('a.txt', { 'if-none-match': '"x"' })).status).toBe(200);
});

test.each([
  ['bytes=0-0', '0', 'bytes 0-0/10'],
  ['bytes=2-4', '234', 'bytes 2-4/10'],
  ['bytes=7-', '789', 'bytes 7-9/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['bytes=-99', '0123456789', null],
  ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ['bytes=0-9', '0123456789', null],
  ['bytes=4-2', '0123456789', null],
  ['bytes=0-1,3-4', '0123456789', null],
  ['items=0-1', '0123456789', null],
])('answers the range %s with %s', async (range, text, contentRange) => {
  const answer = await download('a.txt', { range });
  expect(await answer.text()).toBe(text);
  expect(answer.headers.get('content-range')).toBe(contentRange);
  expect(answer.status).toBe(contentRange === null ? 200 : 206);
});

test('a range across the pieces of a blob is whole, one beyond it is 416', async () => {
  const answer = await download('big.bin', { range: 'bytes=1048570-1048590' });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.equals(contents['big.bin']?.subarray(1048570, 1048591) ?? Buffer.alloc(0))).toBe(
    true,
  );
  for (const [path, range] of [
    ['a.txt', 'bytes=10-'],
    ['a.txt', 'bytes=-0'],
    ['empty', 'bytes=0-'],
  ] as const) {
    const beyond = await download(path, { range });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get('content-range')).toBe(`bytes */${path === 'empty' ? 0 : 10}`);
    expect(await beyond.json()).toMatchObject({ error: { code: 'RANGE_NOT_SATISFIABLE' } });
    expect(beyond.headers.get('content-disposition')).toBeNull();
  }
});

test('a range of what the file was before gets the whole of what it is', async () => {
  const range = 'bytes=0-1';
  expect((await download('a.txt', { range, 'if-range': '"before"' })).status).toBe(200);
  const etag = `"${digestOf(Buffer.from('0123456789'))}"`;
  expect((await download('a.txt', { range, 'if-range': etag })).status).toBe(206);
});

test('a path that is none is 400 or 404, and leads nowhere', async () => {
  const hostile = [
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e/%2e%2e/etc/passwd',
    '%2fetc%2fpasswd',
    'dir/%2e/z',
    'dir//z',
    'dir/',
    'a.txt%00',
    'dir%5cz',
    'x'.repeat(513),
    '%ed%a0%80',
    '',
  ];
  for (const path of hostile) {
    const { status, body } = await asWritten(`${files}/${path}`);
    expect([400, 404], `${path}: ${status}`).toContain(status);
    expect(JSON.parse(body)).toMatchObject({ error: { code: expect.any(String) } });
  }
  expect((await download('missing.txt')).status).toBe(404);
});

test('a download that its reader leaves costs nothing more', async () => {
  for (let i = 0; i < 30; i += 1) {
    const abort = new AbortController();
    const answer = await fetch(`${api.url}${files}/big.bin`, {
      headers: { authorization: `Bearer ${tenant.key}` },
      signal: abort.signal,
    });
    await answer.body?.getReader().read();
    abort.abort();
  }
  await expect.poll(() => world.database.pool.waitingCount).toBe(0);
  expect((await download('a.txt')).status).toBe(200);
});
