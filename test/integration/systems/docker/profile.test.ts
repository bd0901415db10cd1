import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import { afterAll, expect, test } from 'vitest';
import { containerSpec } from '../../../../systems/docker/container/container-spec.ts';
import { createDockerFixture } from './support/docker-fixture.ts';
import { weaknesses } from './support/weaknesses.ts';

const fixture = createDockerFixture();
afterAll(() => fixture.close());

test('the container has the hardened configuration', async () => {
  const spec = fixture.spec();
  const { containerId } = await fixture.sandboxes.ensureCreated(spec);
  const container = await fixture.engine.docker.getContainer(containerId).inspect();
  expect(weaknesses(container, spec.folders)).toEqual([]);
  const HostConfig = { ...container.HostConfig, Runtime: 'another' };
  expect(weaknesses({ ...container, HostConfig }, spec.folders)).toEqual(['Runtime']);
  expect(container.Name).toBe(`/frs-${fixture.engine.instance}-${spec.runId}-1`);
  expect(container.Config.Labels).toMatchObject({
    'frs.instance': fixture.engine.instance,
    'frs.run': spec.runId,
    'frs.project': spec.projectId,
    'frs.gen': '1',
    'frs.host': spec.hostId,
    'frs.deadline': spec.deadline.toISOString(),
  });
});

test('gives startup two processors and the run its limit', async () => {
  const { containerId } = await fixture.sandboxes.ensureCreated(fixture.spec({ cpus: 0.5 }));
  const cpus = async (): Promise<number | undefined> =>
    (await fixture.engine.docker.getContainer(containerId).inspect()).HostConfig.NanoCpus;
  expect(await cpus()).toBe(Math.min(2, await fixture.engine.cpus()) * 1e9);
  await fixture.sandboxes.setCpus(containerId, 0.5);
  expect(await cpus()).toBe(5e8);
  await fixture.sandboxes.setCpus(containerId, 1_000);
  expect(await cpus()).toBe((await fixture.engine.cpus()) * 1e9);
});

type Weakening = [name: string, of: string, change: (options: Built) => unknown];
type Built = ContainerCreateOptions & { HostConfig: HostConfig };

const weakenings: Weakening[] = [
  ['run as root', 'User', (o) => (o.User = '0')],
  ['another program', 'Entrypoint', (o) => (o.Entrypoint = ['/bin/bash'])],
  ['a secret in the environment', 'Env', (o) => o.Env?.push('ANTHROPIC_API_KEY=secret')],
  ['an open input', 'OpenStdin', (o) => (o.OpenStdin = true)],
  ['the host network', 'NetworkMode', ({ HostConfig: h }) => (h.NetworkMode = 'host')],
  ['the host processes', 'PidMode', ({ HostConfig: h }) => (h.PidMode = 'host')],
  ['shared memory of the host', 'IpcMode', ({ HostConfig: h }) => (h.IpcMode = 'host')],
  [
    'the host name space',
    'UTSMode',
    (o) => (Object.assign(o, { Hostname: '' }).HostConfig.UTSMode = 'host'),
  ],
  ['privileged', 'Privileged', ({ HostConfig: h }) => (h.Privileged = true)],
  ['one capability', 'CapAdd', ({ HostConfig: h }) => (h.CapAdd = ['NET_RAW'])],
  ['default capabilities', 'CapDrop', ({ HostConfig: h }) => (h.CapDrop = [])],
  ['writable root', 'ReadonlyRootfs', ({ HostConfig: h }) => (h.ReadonlyRootfs = false)],
  [
    'no seccomp',
    'Seccomp',
    ({ HostConfig: h }) => (h.SecurityOpt = ['no-new-privileges:true', 'seccomp=unconfined']),
  ],
  [
    'the engine seccomp',
    'Seccomp',
    ({ HostConfig: h }) => (h.SecurityOpt = ['no-new-privileges:true']),
  ],
  ['new privileges', 'Seccomp', ({ HostConfig: h }) => h.SecurityOpt.shift()],
  ['nothing masked', 'MaskedPaths', ({ HostConfig: h }) => (h.MaskedPaths = [])],
  ['nothing read-only in /proc', 'ReadonlyPaths', ({ HostConfig: h }) => (h.ReadonlyPaths = [])],
  [
    'a device',
    'Devices',
    ({ HostConfig: h }) =>
      (h.Devices = [
        { PathOnHost: '/dev/null', PathInContainer: '/dev/x', CgroupPermissions: 'rwm' },
      ]),
  ],
  [
    'a further mount',
    'Mounts',
    ({ HostConfig: h }) =>
      h.Mounts?.push({ Type: 'bind', Source: '/etc', Target: '/host', ReadOnly: true }),
  ],
  ['a bind', 'Binds', ({ HostConfig: h }) => (h.Binds = ['/etc:/host:ro'])],
  [
    'a writable socket folder',
    'Mounts',
    ({ HostConfig: h }) => Object.assign(h.Mounts?.at(-1) ?? {}, { ReadOnly: false }),
  ],
  ['a supplementary group', 'GroupAdd', ({ HostConfig: h }) => (h.GroupAdd = ['0'])],
  ['swap', 'MemorySwap', ({ HostConfig: h }) => (h.MemorySwap = -1)],
  ['unbounded processes', 'PidsLimit', ({ HostConfig: h }) => (h.PidsLimit = -1)],
  ['core dumps', 'Ulimits', ({ HostConfig: h }) => (h.Ulimits = [])],
  ['no init', 'Init', ({ HostConfig: h }) => (h.Init = false)],
  ['automatic removal', 'AutoRemove', ({ HostConfig: h }) => (h.AutoRemove = true)],
  ['a restart', 'RestartPolicy', ({ HostConfig: h }) => (h.RestartPolicy = { Name: 'always' })],
  [
    'a log of the engine',
    'LogConfig',
    ({ HostConfig: h }) => (h.LogConfig = { Type: 'json-file', Config: {} }),
  ],
  [
    'programs with other users in tmp',
    'Tmpfs',
    ({ HostConfig: h }) => (h.Tmpfs = { ...h.Tmpfs, '/tmp': 'rw' }),
  ],
];

test.each(weakenings)('detects the weakening: %s', async (_name, of, change) => {
  const spec = fixture.spec();
  const { instance } = fixture.engine;
  const options = containerSpec(spec, {
    instance,
    hostCpus: 1,
    runtime: await fixture.runtimes.runtime(),
  });
  const built: Built = structuredClone({ ...options, HostConfig: options.HostConfig ?? {} });
  change(built);
  const { id } = await fixture.engine.docker.createContainer(built);
  const container = await fixture.engine.docker.getContainer(id).inspect();
  expect(weaknesses(container, spec.folders)).toContain(of);
});
