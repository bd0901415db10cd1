// gVisor if the engine has it, and never a fallback from the selected runtime. A fake engine lists
// runtimes; a real one rejects unknown runtimes and runs probes.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { RuntimeSetting } from '../../../../core/sandbox/sandbox-runtime.ts';
import { labelNames } from '../../../../systems/docker/labels.ts';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import { cleanUpProbes } from '../../../../systems/docker/runtime/cleanup-probes.ts';
import { probeRuntime } from '../../../../systems/docker/runtime/probe-runtime.ts';
import { selectRuntime } from '../../../../systems/docker/runtime/runtime-selector.ts';
import { type FakeEngine, startFakeEngine } from '../../../support/fake-engine.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createDockerFixture } from './support/docker-fixture.ts';

const fixture = createDockerFixture();
let fake: FakeEngine;
let listed: string[];
/** gVisor's arguments as the engine lists them. */
let gvisorArgs: string[] | undefined;
/** The runtimes that containers were created with. */
let created: unknown[];
let infoCalls: number;

beforeAll(async () => {
  fake = await startFakeEngine(({ path, body }) => {
    if (path.includes('/containers/create')) {
      const spec = JSON.parse(body) as { HostConfig: { Runtime?: string } };
      created.push(spec.HostConfig.Runtime);
      return { Id: `container-${created.length}` };
    }
    if (path.includes('/info')) infoCalls += 1;
    const argsOf = (name: string) => (name === 'runsc' ? { runtimeArgs: gvisorArgs } : {});
    const entries = listed.map((name) => [name, { path: name, ...argsOf(name) }] as const);
    const Runtimes = Object.fromEntries(entries);
    return { Version: '28.1.0', ApiVersion: '1.49', NCPU: 2, Runtimes };
  });
});
beforeEach(() => {
  gvisorArgs = ['--debug', '--host-uds=open'];
  created = [];
  infoCalls = 0;
});
afterAll(async () => {
  fake.close();
  await fixture.close();
});

function engineWith(runtime: RuntimeSetting, dockerHost = fake.dockerHost) {
  const docker = openDocker({ dockerHost, instance: fixture.engine.instance, runtime });
  const { sandboxes } = docker;
  return { ...docker, create: () => sandboxes.ensureCreated(fixture.spec()) };
}

const missing = { code: 'runtime_missing', message: expect.stringContaining('runtime runsc') };

test.each<[RuntimeSetting, string[], string]>([
  ['auto', ['runc', 'io.containerd.runc.v2'], 'runc'],
  ['auto', ['runc', 'runsc-kvm', 'nvidia'], 'runc'],
  ['auto', ['runc', 'runsc'], 'runsc'],
  ['runc', ['runc', 'runsc'], 'runc'],
  ['runsc', ['runc', 'runsc'], 'runsc'],
])(
  'SANDBOX_RUNTIME=%s on an engine with %j runs every sandbox on %s',
  async (wanted, names, used) => {
    listed = names;
    const { runtimes, create } = engineWith(wanted);
    await create();
    await create();
    expect(created).toEqual([used, used]);
    expect(await runtimes.runtime()).toBe(used);
    expect(infoCalls).toBe(2); // for the processors and for the runtimes
  },
);

test('starts nothing while the configured gVisor is missing', async () => {
  listed = ['runc'];
  const { runtimes, create } = engineWith('runsc');
  await expect(create()).rejects.toMatchObject(missing);
  await expect(runtimes.findRuntime()).rejects.toThrow(
    'does not have the runtime runsc, only runc',
  );
  expect(created).toEqual([]);
  listed = ['runc', 'runsc'];
  await create();
  expect(created).toEqual(['runsc']);
});

test('auto does not switch runtimes later', async () => {
  listed = ['runc', 'runsc'];
  const { runtimes, create } = engineWith('auto');
  await create();
  listed = ['runc'];
  await expect(runtimes.findRuntime()).rejects.toMatchObject(missing);
  await expect(create()).rejects.toMatchObject(missing);
  listed = ['runc', 'runsc'];
  expect(await runtimes.findRuntime()).toBe('runsc');
  await create();
  expect(created).toEqual(['runsc', 'runsc']);
});

const unusable = { code: 'runtime_unusable', message: expect.stringContaining('--host-uds=open') };

test.each([
  [['--host-uds=open'], 'runsc'],
  [['-host-uds', 'all', '--debug'], 'runsc'],
  [['--host-uds=none'], null],
  [['--host-uds=create'], null],
  [['--not-host-uds=open'], null],
  [[], null],
  [undefined, null],
])('gVisor with the arguments %j selects %s, for auto and for runsc', async (args, used) => {
  listed = ['runc', 'runsc'];
  gvisorArgs = args;
  for (const runtime of ['auto', 'runsc'] as const) {
    const { create, runtimes } = engineWith(runtime);
    if (used === null) await expect(create()).rejects.toMatchObject(unusable);
    else expect(await runtimes.findRuntime()).toBe(used);
  }
  expect(created).toEqual([]);
});

test('auto does not fall back to runc, and uses gVisor once it works', async () => {
  listed = ['runc', 'runsc'];
  gvisorArgs = [];
  const { runtimes, create } = engineWith('auto');
  await expect(runtimes.findRuntime()).rejects.toMatchObject(unusable);
  await expect(create()).rejects.toMatchObject(unusable);
  listed = ['runc'];
  await expect(create()).rejects.toMatchObject(missing);
  expect(created).toEqual([]);
  listed = ['runc', 'runsc'];
  gvisorArgs = ['--host-uds=open'];
  await create();
  expect(created).toEqual(['runsc']);
});

test('a failed probe is cached for a minute, a successful one for good', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let why: string | null = 'the machine was out of memory';
    const probe = vi.fn(async () => why);
    const runtimes = { runsc: { path: 'runsc' } };
    const { findRuntime } = selectRuntime('runsc', {
      listed: async () => runtimes,
      probe,
    });
    for (const [waitMs, times] of [
      [0, 1],
      [59_000, 1],
      [2_000, 2],
    ] as const) {
      vi.advanceTimersByTime(waitMs);
      await expect(findRuntime()).rejects.toMatchObject(unusable);
      expect(probe).toHaveBeenCalledTimes(times);
    }
    why = null;
    for (const waitMs of [61_000, 3_600_000]) {
      vi.advanceTimersByTime(waitMs);
      expect(await findRuntime()).toBe('runsc');
    }
    expect(probe).toHaveBeenCalledTimes(3);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  [400, /^a sandbox on it does not start/],
  [500, null],
])('a probe rejected with 400 is a failure, with 500 an error (%i)', async (status, said) => {
  listed = ['runc', 'runsc'];
  const failing = await startFakeEngine(({ path }) => {
    if (path.includes('/start')) return { status, message: 'no' };
    if (path.includes('/containers/create')) return { Id: 'a-trial' };
    return { Version: '28.1.0', ApiVersion: '1.49', NCPU: 2, State: { Status: 'created' } };
  });
  const { engine, mountSource } = engineWith('runsc', failing.dockerHost);
  const trial = probeRuntime(engine, { runtime: 'runsc', image: 'an-image', mountSource });
  if (said === null) await expect(trial).rejects.toMatchObject({ code: 'rejected', status });
  else expect(await trial).toMatch(said);
  failing.close();
});

test('a real engine runs the configured runtime or nothing', async () => {
  const hasGvisor = 'runsc' in (await fixture.engine.facts()).runtimes;
  const strict = engineWith('runsc', stackEnv.dockerHost);
  if (!hasGvisor) await expect(strict.create()).rejects.toMatchObject(missing);
  if (!hasGvisor) expect(await strict.sandboxes.list()).toEqual([]);
  const { engine, create } = engineWith('auto', stackEnv.dockerHost);
  const { containerId } = await create();
  const { HostConfig } = await engine.docker.getContainer(containerId).inspect();
  expect(HostConfig.Runtime).toBe(hasGvisor ? 'runsc' : 'runc');
});

test('a probe on a real engine reaches its socket and leaves nothing behind', async () => {
  const folder = mkdtempSync(join(stackEnv.dataDir, 'try-test-'));
  const mountSource = async () => ({ kind: 'host-path' }) as const;
  const options = { image: stackEnv.sandboxImage, data: { dir: folder }, mountSource };
  const runtime = stackEnv.sandboxRuntime;
  const left = mkdtempSync(join(folder, 'try-')); // of a process that died long ago
  utimesSync(left, 0, 0);
  expect(await probeRuntime(fixture.engine, { ...options, runtime })).toBeNull();
  await expect.poll(listProbes).toEqual([]); // a removal may be under way
  expect(readdirSync(folder)).toEqual([]);
  const noImage = probeRuntime(fixture.engine, { ...options, runtime, image: 'nobody/has-it:1' });
  await expect(noImage).rejects.toMatchObject({ code: 'image_missing' });
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('removes stale probes, but no recent ones', async () => {
  const folder = mkdtempSync(join(stackEnv.dataDir, 'left-test-'));
  for (const name of ['try-left', 'not-a-trial']) mkdirSync(join(folder, name));
  const { call, docker, instance } = fixture.engine;
  const Labels = { [labelNames.probe]: instance };
  await call('create', () => docker.createContainer({ Image: stackEnv.sandboxImage, Labels }));
  await cleanUpProbes(fixture.engine, { dir: folder, olderThanMs: 60_000 });
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await listProbes()).toHaveLength(1);
  await cleanUpProbes(fixture.engine, { dir: folder, olderThanMs: -1_000 });
  expect(readdirSync(folder)).toEqual(['not-a-trial']);
  await expect.poll(listProbes).toEqual([]);
  rmSync(folder, { recursive: true });
});

async function listProbes(): Promise<unknown[]> {
  const { docker, instance } = fixture.engine;
  return docker.listContainers({ all: true, filters: { label: [`frs.trial=${instance}`] } });
}

test('a real engine without the runtime fails with the same code', async () => {
  const { call, docker } = fixture.engine;
  const options = { Image: stackEnv.sandboxImage, HostConfig: { Runtime: 'runsc-lost' } };
  await expect(call('create', () => docker.createContainer(options))).rejects.toMatchObject({
    code: 'runtime_missing',
    message: expect.stringContaining('runsc-lost'),
  });
});
