import { expect, test } from 'vitest';
import { publicUrl } from '../../support/api-fixture.ts';
import { caller } from './call.ts';
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
