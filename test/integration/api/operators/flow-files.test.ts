// Operators read and replace the files of a flow by the handlers of keys, and check its fields
// before they change it.

import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { publicUrl } from '../../../support/api-fixture.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant, call } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const at = (path: string) => `/api/projects/${tenant.projectId}/flows${path}`;
const utf8 = (path: string, content = '') => ({ path, content, encoding: 'utf8' });

async function newFlow(fields: object = {}): Promise<string> {
  const made = await operator(at(''), { body: { name: 'A flow', ...fields } });
  expect(made.status, made.text).toBe(201);
  return made.json.data.flowId;
}

const actionsFor = async (flowId: string): Promise<string[]> =>
  (await operator(`/api/audit?limit=200&projectId=${tenant.projectId}`)).json.data
    .filter(({ objectId }: { objectId: string }) => objectId === flowId)
    .map(({ action }: { action: string }) => action);

test('the files of a flow are read and replaced, and each change is recorded once', async () => {
  const flowId = await newFlow();
  const files = at(`/${flowId}/files`);
  const put = (body: object, tag?: string) =>
    operator(files, {
      ...{ method: 'PUT', body },
      headers: tag === undefined ? {} : { 'if-match': tag },
    });
  const script = { ...utf8('run.sh', 'true'), mode: '0755' };
  const first = await put({ files: [utf8('a.txt', 'one'), script] });
  expect(first.json.data).toMatchObject([{ path: 'a.txt' }, { path: 'run.sh' }]);
  const tag = first.headers.get('etag') ?? '';
  expect((await put({ files: [utf8('a.txt', 'one'), script] }, tag)).status).toBe(200);
  const page = await operator(`${files}?limit=1`);
  expect(page.headers.get('link')).toContain(`<${publicUrl}${files}?`);
  expect((await operator(`${files}/run.sh`)).text).toBe('true');
  expect((await operator(`${files}.tar`)).headers.get('content-type')).toBe('application/x-tar');
  expect((await call(`/api/v1/flows/${flowId}/files`)).json).toEqual((await operator(files)).json);
  expect((await operator(`${files}/a.txt`, { method: 'DELETE' })).status).toBe(200);
  expect((await put({ files: [] }, tag)).status).toBe(412);
  expect((await operator(files, { method: 'DELETE' })).status).toBe(200);
  const changed = 'flow_files_changed';
  expect(await actionsFor(flowId)).toEqual([changed, changed, changed, 'flow_created']);
});

test('files of a key have no entry, and a flow of another project has no files', async () => {
  const path = `/api/v1/flows/${tenant.flowId}/files`;
  const body = { files: [utf8('a')] };
  expect((await call(path, { method: 'PUT', body })).status).toBe(200);
  expect(await actionsFor(tenant.flowId)).toEqual([]);
  const other = await fixture.tenant();
  expect((await operator(at(`/${other.flowId}/files`))).status).toBe(404);
  expect((await operator(at(`/${other.flowId}/files`), { method: 'PUT', body })).status).toBe(404);
});

test('a change that cannot be recorded is not made', async () => {
  const flowId = await newFlow();
  await fixture.database.pool.query(
    `alter table audit_log add constraint no_files check (action <> 'flow_files_changed') not valid`,
  );
  try {
    const body = { files: [utf8('a')] };
    expect((await operator(at(`/${flowId}/files`), { method: 'PUT', body })).status).toBe(500);
    expect((await operator(at(`/${flowId}/files`))).json.data).toEqual([]);
  } finally {
    await fixture.database.pool.query('alter table audit_log drop constraint no_files');
  }
});

const check = (body: object) => operator(at('/check'), { body });
const docs = { type: 'http', url: 'https://mcp.example.test/?key=${TOKEN}' };

test('a check has the errors of the creation and of a change, and stores nothing', async () => {
  const flowId = await newFlow({ env: { TOKEN: 'canary' } });
  const none = { changedEnvNames: [], changedMcpServerNames: [] };
  for (const body of [{ name: 'Other' }, { name: 'Other', flowId }]) {
    expect((await check(body)).json.data).toEqual(none);
    for (const [fields, message] of [
      [{ name: '' }, 'body.name'],
      [{ limits: { maxTurns: 0 } }, 'body.limits.maxTurns'],
      [{ runner: 'unknown' }, 'body.runner'],
      [{ schedule: { cron: '0 9 * * *' } }, 'body.schedule: requires a prompt in the flow'],
      [{ prompt: 'a'.repeat(limits.text.promptMaxBytes + 1) }, 'body.prompt'],
      [{ modle: 'x' }, 'body.modle: unknown field'],
    ] as const) {
      const answer = await check({ ...body, ...fields });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.json.error.message).toContain(message);
    }
  }
  const withoutVariable = await check({ name: 'New', mcpServers: { docs } });
  expect(withoutVariable.json.error.message).toContain('body.mcpServers.docs.url');
  expect((await check({ name: 'A flow', flowId, mcpServers: { docs } })).status).toBe(200);
  expect((await operator(at(`/${flowId}`))).json.data).toMatchObject({
    name: 'A flow',
    version: 1,
  });
  expect(await actionsFor(flowId)).toEqual(['flow_created']);
});

test('a check names the secrets with other values, and shows none', async () => {
  const env = { SAME: '1', OTHER: '2', KEPT: '3', TOKEN: 'canary' };
  const flowId = await newFlow({ env, mcpServers: { docs, more: docs } });
  const answer = await check({
    ...{ name: 'A flow', flowId },
    env: { SAME: '1', OTHER: 'x', NEW: '4' },
    mcpServers: { docs: { ...docs, headers: {} }, more: docs },
  });
  expect(answer.json.data).toEqual({ changedEnvNames: ['OTHER'], changedMcpServerNames: ['docs'] });
  expect(answer.text).not.toContain('canary');
  const other = await fixture.tenant();
  expect((await check({ name: 'A flow', flowId: other.flowId })).status).toBe(404);
});

test('the schema of front matter is served', async () => {
  const answer = await caller(api, null)('/api/v1/flow-file.schema.json');
  expect(answer.headers.get('content-type')).toContain('application/schema+json');
  expect(JSON.parse(answer.text).properties).toMatchObject({
    name: { type: 'string' },
    env: { anyOf: [{ type: 'array' }, { type: 'object' }] },
    schedule: {},
  });
});
