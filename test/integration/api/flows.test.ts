import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { publicUrl } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { nextOf } from './lister.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

test('lists the flows of the caller’s project without secrets', async () => {
  const secrets = { env: { TOKEN: 'canary' }, mcpServers: {} };
  const tenant = await fixture.tenant({ flow: { name: 'Nightly', prompt: 'Go', secrets } });
  await fixture.tenant();
  const { json, text } = await caller(api, tenant.key)('/api/v1/flows');
  expect(json.data).toHaveLength(1);
  expect(json.data[0]).toMatchObject({
    flowId: tenant.flowId,
    projectId: tenant.projectId,
    name: 'Nightly',
    prompt: 'Go',
    envNames: ['TOKEN'],
    network: { policy: 'limited', allowedHosts: [] },
    version: 1,
    createdAt: expect.stringMatching(/Z$/),
  });
  expect(text).not.toContain('canary');
});

test('lists every flow once, page by page', async () => {
  const tenant = await fixture.tenant();
  for (let i = 0; i < 6; i += 1) {
    await fixture.stores.flows.create({ name: `Flow ${i}`, projectId: tenant.projectId });
  }
  const call = caller(api, tenant.key);
  const seen: string[] = [];
  let pages = 0;
  for (let next: string | undefined = '/api/v1/flows?limit=3'; next; pages += 1) {
    const page = await call(next);
    seen.push(...page.json.data.map(({ flowId }: { flowId: string }) => flowId));
    next = /^<(.*)>; rel="next"$/
      .exec(page.headers.get('link') ?? '')?.[1]
      ?.slice(publicUrl.length);
  }
  expect([pages, seen.length, new Set(seen).size]).toEqual([3, 7, 7]);
  expect((await call('/api/v1/flows?cursor=nonsense')).status).toBe(400);
});

test('ends a page early if its prompts and instructions are too long, and loses no flow', async () => {
  const { key, projectId, flowId: latest } = await fixture.tenant();
  const half = 'x'.repeat(limits.page.flowsMaxBytes / 2);
  const ids: string[] = [];
  for (const [n, column] of ['prompt', 'instructions', 'prompt', 'prompt'].entries()) {
    const { flowId } = await fixture.stores.flows.create({ name: 'Long', projectId });
    await setColumn(flowId, column, half);
    await setColumn(flowId, 'created_at', `2020-05-01T00:00:0${n}.000Z`);
    ids.push(flowId);
  }
  const call = caller(api, key);
  const first = await call('/api/v1/flows');
  const second = await call(nextOf(first) ?? '');
  const third = await call(nextOf(second) ?? '');
  const pages = [first, second, third].map(flowIdsOf);
  expect(pages).toEqual([ids.slice(0, 2), ids.slice(2), [latest]]);
  expect(nextOf(third)).toBeNull();
  // With one byte less, the page has not reached the size.
  await setColumn(ids[0] ?? '', 'prompt', half.slice(1));
  expect(flowIdsOf(await call('/api/v1/flows'))).toEqual(ids.slice(0, 3));
});

const flowIdsOf = ({ json }: Answer): string[] =>
  json.data.map(({ flowId }: { flowId: string }) => flowId);

const setColumn = (flowId: string, column: string, value: string) =>
  fixture.database.pool.query(`update flows set ${column} = $2 where id = $1`, [flowId, value]);
