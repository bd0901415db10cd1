// The files of a flow as a set: list, read, replace and delete with If-Match.

import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { publicUrl } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { useGivenFiles, utf8 } from './input-file-requests.ts';

const { fixture, api, tenant, call, trigger, pathsOf, storage } = useGivenFiles();
const url = (path = '') => `/api/v1/flows/${tenant.flowId}/files${path}`;
const list = (query = '') => call(url(query));
const change = (method: string, path: string, tag?: string, body?: unknown) =>
  call(url(path), {
    ...{ method, headers: tag === undefined ? {} : { 'if-match': tag } },
    ...(body === undefined ? {} : { body }),
  });
const replace = (files: unknown, tag?: string) => change('PUT', '', tag, { files });
const tagOf = ({ headers }: Answer) => headers.get('etag') ?? '';
const paths = ({ json }: Answer) => json.data.map(({ path }: { path: string }) => path);
const failed = { status: 412, json: { error: { code: 'PRECONDITION_FAILED' } } };

test('lists the files of a flow with a tag, page by page, and reads them', async () => {
  const empty = await list();
  expect([empty.status, empty.json]).toEqual([200, { data: [] }]);
  await trigger([utf8('b/ü', 'two'), utf8('a.txt', 'one'), utf8('c')]);
  const whole = await list();
  expect(whole.json.data).toMatchObject([
    { path: 'a.txt', name: 'a.txt', type: 'file', size: 3, scope: 'flow' },
    { path: 'b/ü', size: 3 },
    { path: 'c' },
  ]);
  expect(tagOf(whole)).toMatch(/^"[0-9a-f]{64}"$/);
  expect(tagOf(whole)).not.toBe(tagOf(empty));
  const page = await list('?limit=2');
  const next = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  const last = await call(next.slice(publicUrl.length));
  expect([...paths(page), ...paths(last)]).toEqual(paths(whole));
  expect([tagOf(page), tagOf(last), last.headers.get('link')]).toEqual([
    ...[tagOf(whole), tagOf(whole), null],
  ]);
  expect(paths(await list('?prefix=b/'))).toEqual(['b/ü']);
  const known = await call(url(), { headers: { 'if-none-match': tagOf(whole) } });
  expect([known.status, known.text]).toEqual([304, '']);

  const file = await call(url('/b/%C3%BC'), { headers: { range: 'bytes=1-' } });
  expect([file.status, file.text, file.headers.get('content-range')]).toEqual([
    ...[206, 'wo', 'bytes 1-2/3'],
  ]);
  expect((await call(url('/b/none'))).json.error.code).toBe('NOT_FOUND');
  expect((await call(url('/b%2F..%2Fc'))).status).toBe(400);
});

test('replaces the whole set, for later runs only', async () => {
  await trigger([utf8('a', 'one'), utf8('b', 'one'), utf8('c', 'one')]);
  const before = await trigger(undefined);
  const first = await list();
  const put = await replace([utf8('a', 'one'), utf8('b', 'two'), utf8('d', '')], tagOf(first));
  expect(put.status).toBe(200);
  expect(put.json.data).toMatchObject([
    { path: 'a', modifiedAt: first.json.data[0].modifiedAt },
    { path: 'b', size: 3, scope: 'flow' },
    { path: 'd', size: 0 },
  ]);
  expect(tagOf(put)).toBe(tagOf(await list()));
  expect((await call(url('/b'))).text).toBe('two');
  expect(await storage()).toMatchObject({ usedBytes: 6 });
  expect(await pathsOf(before)).toEqual(['a', 'b', 'c']);
  expect(await pathsOf(await trigger(undefined))).toEqual(['a', 'b', 'd']);

  const same = await replace([utf8('d', ''), utf8('b', 'two'), utf8('a', 'one')], tagOf(put));
  expect([tagOf(same), same.json]).toEqual([tagOf(put), put.json]);
  const executable = { ...utf8('d', ''), mode: '0755' };
  const other = await replace([utf8('a', 'one'), utf8('b', 'two'), executable]);
  expect(tagOf(other)).not.toBe(tagOf(put));
});

test('deletes one file or all, for later runs only', async () => {
  await trigger([utf8('a'), utf8('b/c'), utf8('d')]);
  const before = await trigger(undefined);
  const one = await change('DELETE', '/b/c');
  expect([one.status, one.json]).toEqual([200, { data: { path: 'b/c', deleted: true } }]);
  expect([paths(await list()), tagOf(await list())]).toEqual([['a', 'd'], tagOf(one)]);
  expect(await storage()).toMatchObject({ usedBytes: 2 });
  expect((await change('DELETE', '/b/c')).status).toBe(404);
  // The folder is empty now, so a file can have its name.
  expect((await trigger([utf8('b')])).status).toBe(201);

  const all = await change('DELETE', '');
  expect(all.json).toEqual({ data: { flowId: tenant.flowId, deleted: true } });
  expect((await list()).json).toEqual({ data: [] });
  expect(await storage()).toMatchObject({ usedBytes: 0 });
  expect(await pathsOf(before)).toEqual(['a', 'b/c', 'd']);
  expect(await pathsOf(await trigger(undefined))).toEqual([]);
});

test('changes only the set that If-Match names', async () => {
  await trigger([utf8('a', 'one'), utf8('b', 'one')]);
  const read = tagOf(await list());
  await trigger([utf8('a', 'two')]);
  const now = await list();
  for (const tag of [read, `W/${tagOf(now)}`, '"x"', 'x', '', `${read}, "x"`]) {
    expect(await replace([utf8('c')], tag), tag).toMatchObject(failed);
    expect(await change('DELETE', '', tag), tag).toMatchObject(failed);
    expect(await change('DELETE', '/a', tag), tag).toMatchObject(failed);
  }
  expect([tagOf(await list()), (await list()).json]).toEqual([tagOf(now), now.json]);
  expect((await change('DELETE', '/a', `"x", ${tagOf(now)}`)).status).toBe(200);
  expect((await change('DELETE', '/none', '*')).status).toBe(404);
  expect((await change('DELETE', '', '*')).status).toBe(200);
});

test('stores no content for a replacement that If-Match rules out', async () => {
  await trigger([utf8('a', 'one')]);
  const content = `only in this request ${tenant.flowId}`;
  const stored = async () => {
    const text = `select from blobs where sha256 = sha256(convert_to($1, 'UTF8'))`;
    return (await fixture.database.pool.query(text, [content])).rowCount;
  };
  expect(await replace([utf8('a', content)], '"x"')).toMatchObject(failed);
  expect(await stored()).toBe(0);
  expect((await replace([utf8('a', content)], tagOf(await list()))).status).toBe(200);
  expect(await stored()).toBe(1);
});

test('of ten replacements of the same set, one is made and nine get 412', async () => {
  for (let round = 0; round < 3; round += 1) {
    const tag = tagOf(await list());
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        replace([utf8('a', `${round} ${n}`), utf8(`b${n}`, `${n}`)], tag),
      ),
    );
    const [winner] = made.filter(({ status }) => status === 200);
    expect(made.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 412),
    ]);
    const listed = await list();
    expect([tagOf(listed), listed.json]).toEqual([winner && tagOf(winner), winner?.json]);
    expect(await storage()).toMatchObject({ usedBytes: 4 });
  }
});

test('accepts as many files as a request may have, and rejects one more and invalid ones', async () => {
  const most = Array.from({ length: limits.file.perRequestMax }, (_, n) => utf8(`n/${n}`));
  expect((await replace(most)).status).toBe(200);
  const before = await list('?limit=200');
  const rules = utf8('.flowignore', 'own/\n');
  for (const [files, message] of [
    [[...most, utf8('a')], /files/],
    [[utf8('../a')], /segment/],
    [[utf8('.git/config')], /\.git/],
    [[utf8('a'), utf8('a')], /repeated/],
    [[utf8('a'), utf8('a/b')], /folders/],
    [[rules, utf8('own/a')], /matches the \.flowignore/],
    ['a', /files/],
  ] as const) {
    const { status, json } = await replace(files);
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(json.error.message).toMatch(message);
  }
  expect(tagOf(await list('?limit=200'))).toBe(tagOf(before));
  expect((await replace([rules, utf8('a')])).status).toBe(200);
  const ran = await trigger([utf8('own/a'), utf8('b')]);
  expect(await pathsOf(ran)).toEqual(['.flowignore', 'a', 'b', 'own/a']);
  expect(paths(await list())).toEqual(['.flowignore', 'a', 'b']);
});

test('with a used-up storage quota, files can be deleted but not replaced', async () => {
  await trigger([utf8('a')]);
  await fixture.stores.projects.update(tenant.projectId, { storageQuotaBytes: 0 });
  const full = await replace([utf8('b')]);
  expect([full.status, full.json.error.limit]).toEqual([400, 0]);
  expect((await change('DELETE', '/a')).status).toBe(200);
  expect((await replace([])).status).toBe(200);
});

test('rejects the keys of other projects', async () => {
  const other = await fixture.tenant();
  const refused = await caller(api, other.key)(url());
  expect([refused.status, refused.json.error.code]).toEqual([403, 'UNAUTHORIZED']);
});
