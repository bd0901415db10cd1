import { expect, test } from 'vitest';
import { publicUrl } from '../../support/api-fixture.ts';
import { contents, digestOf, modifiedAt, useRunFiles } from './run-files.ts';

const { fixture, api, tenant, call, files, download } = useRunFiles();

test('lists the files by path, page by page, by scope and by prefix', async () => {
  const all = await call(files());
  const paths = ({ json }: typeof all) => json.data.map(({ path }: { path: string }) => path);
  expect(paths(all)).toEqual(Object.keys(contents).sort());
  expect(all.json.data[0]).toEqual({
    path: 'a.txt',
    name: 'a.txt',
    type: 'file',
    size: 10,
    sha256: digestOf(Buffer.from('0123456789')),
    mode: '0644',
    scope: 'flow',
    modifiedAt: modifiedAt.toISOString(),
  });
  expect(paths(await call(`${files()}?scope=flow`))).toEqual(['a.txt']);
  expect(paths(await call(`${files()}?prefix=dir/`))).toEqual(['dir/z', 'dir/ünï "x"; y.html']);

  const seen: string[] = [];
  for (let next: string | undefined = `${files()}?limit=2&scope=run`; next; ) {
    const page = await call(next);
    seen.push(...paths(page));
    const link = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
    expect(link === undefined || link.startsWith(`${publicUrl}/api/v1/runs/`)).toBe(true);
    next = link?.slice(publicUrl.length);
  }
  expect(seen).toEqual(Object.keys(contents).sort().slice(1));
});

test('downloads raw bytes with headers against rendering', async () => {
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

test('answers HEAD like GET without the body, and ignores ranges', async () => {
  for (const headers of [{}, { range: 'bytes=0-9' }, { range: 'bytes=9999999-' }]) {
    const answer = await download('big.bin', headers, 'HEAD');
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '2500000']);
    expect(await answer.text()).toBe('');
  }
});

test('answers 304 if the client has the current version', async () => {
  const etag = `"${digestOf(Buffer.from('0123456789'))}"`;
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const answer = await download('a.txt', { 'if-none-match': known });
    expect([answer.status, answer.headers.get('etag')], known).toEqual([304, etag]);
  }
  expect((await download('a.txt', { 'if-none-match': '"x"' })).status).toBe(200);
});

test('stops reading when the client disconnects', async () => {
  for (let i = 0; i < 30; i += 1) {
    const abort = new AbortController();
    const answer = await fetch(`${api.url}${files()}/big.bin`, {
      headers: { authorization: `Bearer ${tenant.key}` },
      signal: abort.signal,
    });
    await answer.body?.getReader().read();
    abort.abort();
  }
  await expect.poll(() => fixture.database.pool.waitingCount).toBe(0);
  expect((await download('a.txt')).status).toBe(200);
});
