import { beforeAll, expect, test } from 'vitest';
import { flowVersionLimits } from '../../../../core/flows/flow-version.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

interface Listed {
  version: number;
  changedBy: string | null;
  changedFields: string[];
}

async function newFlow(fields: object = {}) {
  const flows = `/api/projects/${tenant.projectId}/flows`;
  const made = await operator(flows, { body: { name: 'A flow', ...fields } });
  expect(made.status, made.text).toBe(201);
  const { flowId } = made.json.data;
  const flow = `${flows}/${flowId}`;
  const change = (body: object) => operator(flow, { method: 'PATCH', body });
  const versions = async (): Promise<Listed[]> => (await operator(`${flow}/versions`)).json.data;
  const call = caller(api, tenant.key);
  return { flow, flowId, change, versions, call, path: `/api/v1/flows/${flowId}` };
}

const file = (content: string) => ({ files: [{ path: 'a.txt', content, encoding: 'utf8' }] });

test('each change is a version with its operator and its changed fields', async () => {
  const { flow, change, versions } = await newFlow({ prompt: 'one' });
  await change({ prompt: 'two', model: 'opus' });
  await change({ env: { TOKEN: 'canary-1' } });
  await change({ env: { TOKEN: 'canary-2' } });
  expect(await versions()).toMatchObject([
    { version: 4, changedBy: 'olga', changedFields: ['env'] },
    { version: 3, changedBy: 'olga', changedFields: ['env'] },
    { version: 2, changedBy: 'olga', changedFields: ['model', 'prompt'] },
    { version: 1, changedBy: 'olga', changedFields: expect.arrayContaining(['name', 'prompt']) },
  ]);
  const first = await operator(`${flow}/versions/1`);
  expect(first.json.data).toMatchObject({
    definition: { prompt: 'one', model: null, envNames: [] },
    files: { count: 0, bytes: 0, revision: 0 },
  });
  const fields = [
    { field: 'model', before: null, after: 'opus' },
    { field: 'prompt', before: 'one', after: 'two' },
  ];
  for (const query of ['', '?from=1'])
    expect((await operator(`${flow}/versions/2/diff${query}`)).json.data).toEqual({
      ...{ from: 1, to: 2, fields, fileChanges: [], fileChangeCount: 0, changedSecrets: [] },
    });
  const secret = await operator(`${flow}/versions/4/diff?from=3`);
  expect(secret.json.data).toMatchObject({ fields: [], changedSecrets: ['env.TOKEN'] });
  const back = await operator(`${flow}/versions/2/diff?from=4`);
  expect(back.json.data).toMatchObject({
    fields: [{ field: 'envNames', before: ['TOKEN'], after: [] }],
    changedSecrets: ['env.TOKEN'],
  });
  const texts = await Promise.all([1, 2, 3, 4].map((n) => operator(`${flow}/versions/${n}`)));
  for (const { text } of [secret, back, ...texts]) expect(text).not.toContain('canary');
  for (const version of ['5', '0', 'x', '1/diff', '1/diff?from=9'])
    expect([400, 404]).toContain((await operator(`${flow}/versions/${version}`)).status);
});

test('a change of the files is a version with its key, and keys read versions', async () => {
  const { versions, call, path } = await newFlow({ prompt: 'Go' });
  const put = (body: object) => call(`${path}/files`, { method: 'PUT', body });
  await put(file('one'));
  await put(file('one'));
  const run = await call(`${path}/runs`, { body: file('three') });
  expect([run.status, run.json.data.flowVersion]).toEqual([201, 2]);
  const read = (await call(`/api/v1/runs/${run.json.data.runId}`)).json.data;
  const last = ['flowVersion', 'parentRunId', 'rootRunId', 'depth'];
  for (const record of [run.json.data, read]) expect(Object.keys(record).slice(-4)).toEqual(last);
  const listed = (await call(`${path}/versions`)).json.data;
  expect(listed).toEqual(await versions());
  expect(listed.slice(0, 2)).toMatchObject([
    { version: 3, changedBy: run.json.data.createdBy.keyName, changedFields: ['files'] },
    { version: 2, changedBy: run.json.data.createdBy.keyName, changedFields: ['files'] },
  ]);
  const third = (await call(`${path}/versions/3`)).json.data;
  expect(third).toMatchObject({ definition: { prompt: 'Go' }, files: { count: 1, bytes: 5 } });
  const { fields } = (await call(`${path}/versions/3/diff`)).json.data;
  expect(fields).toMatchObject([{ field: 'files', before: { bytes: 3 }, after: { bytes: 5 } }]);
  const { flowVersion } = (
    await call(`${path}/sessions`, { body: {} }).then(({ json }) =>
      call(`/api/v1/runs/${json.data.runId}`),
    )
  ).json.data;
  expect(flowVersion).toBe(3);
  const other = await fixture.tenant();
  expect((await caller(api, other.key)(`${path}/versions`)).status).toBe(403);
});

test('a version is restored as a new one, and secrets stay as they are', async () => {
  const schedule = { cron: '0 9 * * *', timezone: 'UTC' };
  const made = await newFlow({ prompt: 'old', schedule, env: { A: '1' } });
  const { flow, flowId, change, call, path } = made;
  await change({ prompt: 'new', schedule: null, name: 'Renamed', env: { A: '2' } });
  await call(`${path}/files`, { method: 'PUT', body: file('kept') });
  const restored = await operator(`${flow}/versions/1/restore`, { body: { files: false } });
  expect([restored.status, restored.json.data]).toMatchObject([
    200,
    { version: 4, prompt: 'old', schedule, name: 'A flow', envNames: ['A'] },
  ]);
  expect((await fixture.stores.flows.readSecrets(flowId)).env).toEqual({ A: '2' });
  const { definition, files } = (await operator(`${flow}/versions/4`)).json.data;
  expect(definition).toEqual((await operator(`${flow}/versions/1`)).json.data.definition);
  expect(files).toMatchObject({ count: 1, bytes: 4 });
  const entries = (await operator(`/api/audit?projectId=${tenant.projectId}`)).json.data;
  expect(entries[0]).toMatchObject({
    ...{ action: 'flow_changed', objectId: flowId },
    fieldsAfter: ['name', 'prompt', 'schedule'],
  });
  const missing = await operator(`${flow}/versions/9/restore`, { method: 'POST' });
  expect([missing.status, missing.json.error.code]).toEqual([404, 'NOT_FOUND']);
});

test('ten changes at a time are ten versions', async () => {
  const { change, versions } = await newFlow();
  await Promise.all(Array.from({ length: 10 }, (_, n) => change({ description: `${n}` })));
  const listed = await versions();
  expect(listed.map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  for (const { version, changedFields } of listed.slice(0, -1))
    expect([version, changedFields]).toEqual([version, ['description']]);
});

test('keeps the latest 50 versions, and the definition of those that changed files alone', async () => {
  const { flow, flowId, versions, call, path } = await newFlow({ prompt: 'Go' });
  const { kept } = flowVersionLimits;
  await call(`${path}/files`, { method: 'PUT', body: file('one') });
  await call(`${path}/files`, { method: 'PUT', body: file('two') });
  const change = (name: string) => fixture.stores.flows.change(flowId, () => ({ name }));
  for (let version = 4; version <= kept; version += 1) await change(`${version}`);
  expect((await versions()).at(-1)?.version).toBe(1);
  await change('one more');
  expect([(await versions()).at(-1)?.version, (await versions()).length]).toEqual([2, kept]);
  expect((await operator(`${flow}/versions/1`)).status).toBe(404);
  const second = (await operator(`${flow}/versions/2`)).json.data;
  expect(second).toMatchObject({ definition: { prompt: 'Go' }, files: { bytes: 3 } });
  const stored = async () => {
    const text = `
      select count(*)::integer, min(version), (
        select count(*)::integer from flow_files f
        where f.flow_id = $1 and f.valid_to is not null
      ) as superseded
      from flow_versions where flow_id = $1`;
    return (await fixture.database.pool.query(text, [flowId])).rows;
  };
  expect(await stored()).toEqual([{ count: kept + 1, min: 1, superseded: 1 }]);
  await change('two more');
  expect(await stored()).toEqual([{ count: kept + 1, min: 1, superseded: 0 }]);
  await change('three more');
  expect(await stored()).toEqual([{ count: kept, min: 4, superseded: 0 }]);
});
