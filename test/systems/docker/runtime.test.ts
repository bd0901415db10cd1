// gVisor where the engine has it, and never anything else in the place of what was asked for. Which
// runtimes an engine lists is made up here; what it refuses, a real one says.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RuntimeSetting } from '../../../core/sandbox-runtime.ts';
import { createEngine } from '../../../systems/docker/engine.ts';
import { createSandboxes } from '../../../systems/docker/sandbox.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { type FakeEngine, startFakeEngine } from './support/fake-engine.ts';
import { dockerWorld } from './support/world.ts';

const world = dockerWorld();
let fake: FakeEngine;
let listed: string[];
/** The runtimes that containers were created with. */
let created: unknown[];
let asked: number;

beforeAll(async () => {
  fake = await startFakeEngine(({ path, body }) => {
    if (path.includes('/containers/create')) {
      const spec = JSON.parse(body) as { HostConfig: { Runtime?: string } };
      created.push(spec.HostConfig.Runtime);
      return { Id: `container-${created.length}` };
    }
    if (path.includes('/info')) asked += 1;
    const Runtimes = Object.fromEntries(listed.map((name) => [name, { path: name }]));
    return { Version: '28.1.0', ApiVersion: '1.49', NCPU: 2, Runtimes };
  });
});
beforeEach(() => {
  created = [];
  asked = 0;
});
afterAll(async () => {
  fake.close();
  await world.close();
});

function engineWith(runtime: RuntimeSetting, dockerHost = fake.dockerHost) {
  const engine = createEngine({ dockerHost, instance: world.engine.instance, runtime });
  const sandboxes = createSandboxes(engine);
  return { engine, sandboxes, create: () => sandboxes.ensureCreated(world.spec()) };
}

const missing = { code: 'runtime_missing', message: expect.stringContaining('runtime runsc') };

test.each<[RuntimeSetting, string[], string]>([
  ['auto', ['runc', 'io.containerd.runc.v2'], 'runc'],
  ['auto', ['runc', 'runsc-kvm', 'nvidia'], 'runc'],
  ['auto', ['runc', 'runsc'], 'runsc'],
  ['runc', ['runc', 'runsc'], 'runc'],
  ['runsc', ['runc', 'runsc'], 'runsc'],
])(
  'SANDBOX_RUNTIME=%s, where there are %j, is %s in every sandbox',
  async (wanted, names, used) => {
    listed = names;
    const { engine, create } = engineWith(wanted);
    await create();
    await create();
    expect(created).toEqual([used, used]);
    expect(await engine.runtime()).toBe(used);
    expect(asked).toBe(2); // how many processors there are, and this
  },
);

test('gVisor that is set and not there starts nothing, until it is there', async () => {
  listed = ['runc'];
  const { engine, create } = engineWith('runsc');
  await expect(create()).rejects.toMatchObject(missing);
  await expect(engine.findRuntime()).rejects.toThrow('does not have the runtime runsc, only runc');
  expect(created).toEqual([]);
  listed = ['runc', 'runsc'];
  await create();
  expect(created).toEqual(['runsc']);
});

test('what was chosen by itself is not given up by itself', async () => {
  listed = ['runc', 'runsc'];
  const { engine, create } = engineWith('auto');
  await create();
  listed = ['runc'];
  await expect(engine.findRuntime()).rejects.toMatchObject(missing);
  await expect(create()).rejects.toMatchObject(missing);
  listed = ['runc', 'runsc'];
  expect(await engine.findRuntime()).toBe('runsc');
  await create();
  expect(created).toEqual(['runsc', 'runsc']);
});

const { runtimes } = await world.engine.facts();

test.skipIf(runtimes.includes('runsc'))(
  'a real engine without gVisor: nothing is created, and auto is runc',
  async () => {
    const strict = engineWith('runsc', stackEnv.dockerHost);
    await expect(strict.create()).rejects.toMatchObject(missing);
    expect(await strict.sandboxes.list()).toEqual([]);
    const { engine, create } = engineWith('auto', stackEnv.dockerHost);
    const { containerId } = await create();
    const { HostConfig } = await engine.docker.getContainer(containerId).inspect();
    expect(HostConfig.Runtime).toBe('runc');
  },
);

test('the refusal of a real engine that has lost it has the same name', async () => {
  const { call, docker } = world.engine;
  const options = { Image: stackEnv.sandboxImage, HostConfig: { Runtime: 'runsc-lost' } };
  await expect(call('create', () => docker.createContainer(options))).rejects.toMatchObject({
    code: 'runtime_missing',
    message: expect.stringContaining('runsc-lost'),
  });
});
