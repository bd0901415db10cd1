// The configuration of flows and projects by the whole command: each field of the operators' API,
// and no secret on the command line.

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { flowPatch } from '../../../api/operators/flow-fields.ts';
import type { Flow } from '../../../core/flows/flow.ts';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import type { Project } from '../../../systems/postgres/accounts/project-store.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();
beforeAll(async () => {
  const hosts = createHostStore(fixture.database.pool);
  await hosts.renew({ hostId: 'host-1', name: 'first', capacity: 4 });
});
const flows = () => createFlowStore(fixture.database.pool, fixture.sealer);

function config(value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return ['--config', fixture.file(`${randomUUID()}.json`, text)];
}

const create = (...args: string[]) =>
  flowrun.json<Flow>('flow', 'create', '--project', 'shop', ...args);
const update = (flowId: string, ...args: string[]) =>
  flowrun.json<Flow>('flow', 'update', flowId, ...args);

const docs = {
  type: 'http',
  url: 'https://mcp.example.test/',
  headers: { Authorization: 'Bearer ${TOKEN}' },
};

/** Every field. */
const full = {
  name: 'Full',
  description: 'What it is for',
  prompt: 'Go',
  instructions: 'Be brief.',
  model: 'claude-sonnet-4-5',
  allowedModels: ['opus'],
  disallowedTools: ['Bash(git:*)', 'WebFetch'],
  image: 'registry.example.test/agent:2',
  runner: 'host-1',
  timeoutSeconds: 86_400,
  resources: { memoryBytes: 256 * 1024 ** 2, cpus: 0.1 },
  network: { policy: 'open', allowedHosts: ['*.example.test', 'example.test:8443'] },
  limits: { maxTurns: 3, maxBudgetUsd: 0.01 },
  monthlyBudgetUsd: 25.5,
  childRuns: { maxRuns: 3, maxConcurrent: 2, maxBudgetUsd: 0.5 },
  schedule: { cron: '30 9 * * MON-FRI', timezone: 'Europe/Berlin' },
  env: { TOKEN: 'canary-1', OTHER: 'canary-2' },
  mcpServers: { docs },
};
const { env, mcpServers, ...shown } = full;
const names = { envNames: ['OTHER', 'TOKEN'], mcpServerNames: ['docs'] };

describe('a flow from a file', () => {
  test('has every field of the operators’ API, and shows no value of a secret', async () => {
    expect(Object.keys(full).sort()).toEqual(Object.keys(flowPatch.shape).sort());
    const made = await flowrun('flow', 'create', '--project', 'shop', '--json', ...config(full));
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).not.toContain('canary');
    const flow = JSON.parse(made.out) as Flow;
    expect(flow).toMatchObject({ ...shown, ...names, version: 1 });
    expect(await flows().readSecrets(flow.flowId)).toEqual({ env, mcpServers });
    for (const args of [
      ['show', flow.flowId],
      ['list', '--project', 'shop'],
    ]) {
      expect((await flowrun('flow', ...args)).out).not.toContain('canary');
    }
  });

  test('can come from standard input, and options override it', async () => {
    const piped = fixture.withInput(
      JSON.stringify({ ...full, network: { allowedHosts: ['a.test'] } }),
    );
    const flow = await piped.json<Flow>(
      ...['flow', 'create', '--project', 'shop', '--config', '-', '--name', 'Piped'],
      ...['--network', 'none', '--max-turns', 'none', '--cpus', '2', '--timezone', 'UTC'],
    );
    expect(flow).toMatchObject({
      ...{ ...shown, ...names, name: 'Piped' },
      network: { policy: 'none', allowedHosts: ['a.test'] },
      resources: { ...full.resources, cpus: 2 },
      limits: { maxTurns: null, maxBudgetUsd: 0.01 },
      schedule: { cron: full.schedule.cron, timezone: 'UTC' },
    });
  });

  test('changes field by field: named keys are merged, null removes one', async () => {
    const { flowId } = await create(...config(full));
    const changed = await update(
      flowId,
      ...config({
        ...{ description: null, image: null, disallowedTools: [], limits: { maxTurns: null } },
        env: { OTHER: null, MORE: 'canary-3' },
        mcpServers: { more: { type: 'sse', url: 'http://localhost:9000/' } },
      }),
    );
    expect(changed).toMatchObject({
      ...{ ...shown, description: null, image: null, disallowedTools: [], version: 2 },
      limits: { maxTurns: null, maxBudgetUsd: 0.01 },
      ...{ envNames: ['MORE', 'TOKEN'], mcpServerNames: ['docs', 'more'] },
    });
    expect((await flows().readSecrets(flowId)).env).toEqual({
      TOKEN: 'canary-1',
      MORE: 'canary-3',
    });
    const cleared = await update(flowId, ...config({ mcpServers: null, env: null }));
    expect(cleared).toMatchObject({ envNames: [], mcpServerNames: [], version: 3 });
  });
});

describe('a rejected update changes nothing, names the field and quotes no secret', () => {
  test.each([
    [{ env: { PATH: 'canary' } }, 'env.PATH: '],
    [{ env: { A: 1 } }, 'env.A: '],
    [{ mcpServers: { docs: { type: 'stdio', command: 'canary' } } }, 'mcpServers.docs.type: must'],
    [{ mcpServers: { docs } }, '${TOKEN} is not in env'],
    [{ mcpServers: { docs: { type: 'sse', url: 'http://a.test' } } }, 'docs.url: must be https'],
    [{ disallowedTools: ['--flag'] }, 'disallowedTools.0: '],
    [{ image: '-x' }, 'image: must be the name of an image'],
    [{ description: 'd'.repeat(2_001) }, 'description: must be at most 2000'],
    [{ network: { policy: 'any' } }, 'network.policy: '],
    [{ network: 'canary' }, 'network: '],
    [{ limits: null }, 'limits: '],
    [{ schedule: { cron: '* * * * *' } }, 'schedule: requires a prompt'],
    [{ environment: {}, flowId: 'x' }, 'environment: unknown field; flowId: unknown field'],
  ])('%j', async (given, says) => {
    const before = await flows().create({ projectId: 'shop', name: 'As it was' });
    const refused = await flowrun('flow', 'update', before.flowId, ...config(given));
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain(says);
    expect(refused.err).not.toMatch(/canary|body\./);
    expect(await flows().find(before.flowId)).toEqual(before);
  });

  test.each([
    ['{"env":{"A":"canary"}', 'Invalid JSON'],
    ['{"env":{"A": canary}}', 'Invalid JSON'],
    ['["canary"]', 'Expected a JSON object.'],
    ['', 'Invalid JSON'],
    ['{"env":{"__proto__":"canary"}}', 'A field must not be named __proto__.'],
  ])('the file %s', async (text, says) => {
    const refused = await flowrun('flow', 'create', '--project', 'shop', ...config(text));
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain(says);
    expect(refused.err).not.toContain('canary');
  });

  test('a flow without a name, and a time zone without a schedule', async () => {
    const nameless = await flowrun('flow', 'create', '--project', 'shop', ...config({}));
    expect([nameless.code, nameless.err]).toEqual([2, expect.stringContaining('needs a name')]);
    const named = ['--name', 'x', '--prompt', 'Go', '--timezone', 'UTC'];
    const timeless = await flowrun('flow', 'create', '--project', 'shop', ...named);
    expect(timeless).toMatchObject({ code: 2, err: expect.stringContaining('needs a schedule') });
  });

  test('a group that is no object, even if options set its fields', async () => {
    const named = ['--project', 'shop', '--name', 'x', '--network', 'open'];
    const refused = await flowrun('flow', 'create', ...named, ...config({ network: 'canary' }));
    expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/^network: /)]);
  });

  test('more hosts than a flow may name', async () => {
    const hosts = Array.from({ length: 201 }, (_, n) => ['--allow-host', `h${n}.test`]).flat();
    const refused = await flowrun('flow', 'create', '--project', 'shop', '--name', 'x', ...hosts);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('allowedHosts: ')]);
  });
});

describe('a project', () => {
  test('is created with its limits', async () => {
    const bounds = ['--max-concurrent-runs', '3', '--monthly-run-quota', '100'];
    expect(await flowrun.json<Project>('project', 'create', 'news', ...bounds)).toMatchObject({
      ...{ projectId: 'news', name: 'news', maxConcurrentRuns: 3, monthlyRunQuota: 100 },
    });
  });

  test('rejects a model of the project at an invalid address', async () => {
    const [, key = ''] = config('sk-canary');
    const own = ['--own-model-key-file', key, '--own-model-base-url', 'https://m.test:99999'];
    const refused = await flowrun('project', 'set', 'shop', ...own);
    expect(refused).toMatchObject({ code: 2, err: 'model.baseUrl: must be a valid URL\n' });
  });
});

test('the help explains how to pass secrets', async () => {
  const { out } = await flowrun('flow', 'create', '--help');
  expect(out).toContain('--config <path>');
  expect(out).toContain('"env": {"TOKEN": "…"}');
});
