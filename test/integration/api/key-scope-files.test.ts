// A key without the scope `run` sends files to a session. They must not become files of the flow,
// with which other runs start.

import { expect, test } from 'vitest';
import { caller } from './call.ts';
import { archive } from './tar-builder.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

interface SentFile {
  path: string;
  content: string;
  encoding: 'utf8';
}
const file = (path: string): SentFile => ({ path, content: 'x', encoding: 'utf8' });
const [own, ofFlow] = [file('own.mine'), file('CLAUDE.md')];

/** A session of a flow with a `.flowignore`, and the ways to send files to it with a scoped key. */
async function openSession(scopes: string[]) {
  const { projectId, flowId, key: whole } = await fixture.tenant();
  const flow = `/api/v1/flows/${flowId}`;
  const ignore = { ...file('.flowignore'), content: '*.mine' };
  await caller(api, whole)(`${flow}/files`, { method: 'PUT', body: { files: [ignore] } });
  const opened = await caller(api, whole)(`${flow}/sessions`, { body: {} });
  const { sessionId, runId } = opened.json.data;
  const named = { projectId, name: 'scoped', createdBy: 'ana' };
  const { key } = await fixture.stores.keys.create({ ...named, scopes });
  const call = caller(api, key);
  const message = 'Look.';
  return {
    projectId,
    send: {
      'with a message': (files: SentFile[]) =>
        call(`${flow}/chat`, { body: { message, sessionId, files } }),
      'with a first message': (files: SentFile[]) =>
        call(`${flow}/chat`, { body: { message, files } }),
      'as files': (files: SentFile[]) => call(`/api/v1/runs/${runId}/files`, { body: { files } }),
      'as an archive': (files: SentFile[]) =>
        fetch(`${api.url}/api/v1/runs/${runId}/files.tar`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-tar' },
          body: new Uint8Array(
            archive(...files.map(({ path, content }) => ({ name: path, content }))),
          ),
        }),
    },
  };
}

/** What files and messages change in a project. */
async function stored(projectId: string): Promise<unknown> {
  const { rows } = await fixture.database.pool.query(
    `select (select count(*)::int from blobs where project_id = $1) as blobs,
       (select count(*)::int from runs where project_id = $1) as runs,
       (select count(*)::int from session_messages m join runs r on r.id = m.run_id
        where r.project_id = $1) as messages,
       (select array_agg(f.path order by f.path) from flow_files f join flows w on w.id = f.flow_id
        where w.project_id = $1 and f.valid_to is null) as flow`,
    [projectId],
  );
  return rows[0];
}

test.each(['with a message', 'with a first message', 'as files', 'as an archive'] as const)(
  'a key with `chat` adds files to a session, and none to the flow: %s',
  async (way) => {
    const { send, projectId } = await openSession(['chat', 'read']);
    const before = await stored(projectId);
    for (const files of [[ofFlow], [own, ofFlow], [file('.flowignore')]])
      expect((await send[way](files)).status).toBe(403);
    expect(await stored(projectId)).toEqual(before);
    expect([200, 202]).toContain((await send[way]([own])).status);
    expect(await stored(projectId)).toMatchObject({ flow: ['.flowignore'] });
  },
);

test('the error names the file', async () => {
  const { send } = await openSession(['chat']);
  const { json } = await send['as files']([own, ofFlow]);
  expect(json.error).toEqual({
    code: 'UNAUTHORIZED',
    message: expect.stringContaining('body.files.1.path'),
  });
});

test('a key with `chat` and `run` also adds files to the flow', async () => {
  const { send, projectId } = await openSession(['chat', 'run']);
  expect((await send['with a message']([ofFlow])).status).toBe(202);
  expect(await stored(projectId)).toMatchObject({ flow: ['.flowignore', 'CLAUDE.md'] });
});
