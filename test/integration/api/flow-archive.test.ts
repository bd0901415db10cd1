// The files of a flow as one archive: download, and replacement with If-Match.

import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Answer } from './call.ts';
import { hostileArchives, hostileGzips } from './hostile-archives.ts';
import { useGivenFiles, utf8 } from './input-file-requests.ts';
import { archive, end } from './tar-builder.ts';

const { fixture, api, tenant, call, trigger, pathsOf } = useGivenFiles();

async function ask(method: string, ending: string, body?: Buffer, headers = {}) {
  const answer = await fetch(`${api.url}/api/v1/flows/${tenant.flowId}/files.${ending}`, {
    method,
    headers: {
      authorization: `Bearer ${tenant.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  // Untyped, like that of other calls.
  const json: Answer['json'] = isJson ? JSON.parse(bytes.toString()) : null;
  return { status: answer.status, headers: answer.headers, bytes, json };
}

const list = async () => {
  const { headers, json } = await call(`/api/v1/flows/${tenant.flowId}/files`);
  return { tag: headers.get('etag') ?? '', files: json.data };
};

const contentsOf = ({ files }: Awaited<ReturnType<typeof list>>) =>
  files.map(({ path, sha256 }: { path: string; sha256: string }) => [path, sha256]);

test('an archive of one flow replaces all files of another', async () => {
  await trigger([utf8('a', 'one'), { ...utf8('dir/ü', 'two'), mode: '0755' }, utf8('empty', '')]);
  const first = await list();
  const plain = await ask('GET', 'tar');
  expect([plain.status, plain.headers.get('etag')]).toEqual([200, first.tag]);
  expect(plain.headers.get('content-disposition')).toBe(
    `attachment; filename="${tenant.flowId}.tar"`,
  );
  const compressed = await ask('GET', 'tar.gz');
  expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true);
  const known = await ask('GET', 'tar', undefined, { 'if-none-match': first.tag });
  expect([known.status, known.bytes.length]).toEqual([304, 0]);

  Object.assign(tenant, await fixture.tenant());
  for (const [ending, body] of [
    ['tar', plain.bytes],
    ['tar.gz', compressed.bytes],
  ] as const) {
    await trigger([utf8('b', 'other')]);
    const put = await ask('PUT', ending, body, { 'if-match': (await list()).tag });
    expect(put.status).toBe(200);
    const now = await list();
    expect([contentsOf(now), put.json.data]).toEqual([contentsOf(first), now.files]);
    expect(put.headers.get('etag')).toBe(now.tag);
    const { rows } = await fixture.database.pool.query(
      'select path from flow_files where flow_id = $1 and valid_to is null and mode = 493',
      [tenant.flowId],
    );
    expect(rows).toEqual([{ path: 'dir/ü' }]);
  }
  expect(await pathsOf(await trigger(undefined))).toEqual(['a', 'dir/ü', 'empty']);
});

test('of two archives for the same set, one replaces it and one gets 412', async () => {
  await trigger([utf8('a')]);
  const headers = { 'if-match': (await list()).tag };
  const bodies = ['b', 'c'].map((name) => archive({ name, content: name }));
  const put = await Promise.all(bodies.map((body) => ask('PUT', 'tar', body, headers)));
  expect(put.map(({ status }) => status).sort()).toEqual([200, 412]);
  const [winner] = put.filter(({ status }) => status === 200);
  expect((await list()).files).toEqual(winner?.json.data);
});

test('rejects every hostile archive with a reason, and keeps the files', async () => {
  await trigger([utf8('a')]);
  const before = await list();
  const cases = [
    ...hostileArchives.map((each) => ['tar', ...each] as const),
    ...hostileGzips.map((each) => ['tar.gz', ...each] as const),
  ].filter(([, title]) => title !== 'no file');
  for (const [ending, title, body, message] of cases) {
    const { status, json } = await ask('PUT', ending, body);
    expect([400, 413], title).toContain(status);
    expect(json.error.message, title).toMatch(message);
  }
  const ignored = archive({ name: '.flowignore', content: 'own/' }, { name: 'own/a' });
  expect((await ask('PUT', 'tar', ignored)).json.error.message).toMatch(/entry 2: matches/);
  expect(await list()).toEqual(before);
});

test('an empty archive deletes all files', async () => {
  await trigger([utf8('a')]);
  const put = await ask('PUT', 'tar.gz', gzipSync(end));
  expect([put.status, put.json, (await list()).files]).toEqual([200, { data: [] }, []]);
});
