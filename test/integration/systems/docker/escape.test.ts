import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../../../../dev/lib/folders.ts';
import { containerSpec } from '../../../../systems/docker/container/container-spec.ts';
import type { SandboxSpec } from '../../../../systems/docker/container/sandbox-spec.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createDockerFixture } from './support/docker-fixture.ts';
import { type ShellImage, shellImage } from './support/shell-image.ts';

interface Probe {
  group: string;
  name: string;
  denied: boolean;
  detail: string;
}

const fixture = createDockerFixture();
const abstractName = `flowrun-${randomBytes(4).toString('hex')}`;
const command = ['python3', '/workspace/probes.py', abstractName];
let image: ShellImage;
let listener: Server;

beforeAll(async () => {
  image = await shellImage(fixture.engine);
  listener = createServer((client) => client.end());
  await new Promise<void>((resolve) => listener.listen(`\0${abstractName}`, resolve));
});
afterAll(async () => {
  listener.close();
  await fixture.close();
  await image.remove();
});

function sandbox(script: string): SandboxSpec {
  const spec = fixture.spec({ image: image.name });
  copyFileSync(
    join(repository, 'test/integration/systems/docker/support', script),
    join(spec.folders.workspace, script),
  );
  return spec;
}

async function statusOf(containerId: string): Promise<string> {
  return (await fixture.sandboxes.inspect(containerId)).status;
}

function read(out: string): Probe[] {
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Probe); // probes.py writes nothing else
}

/** Permitted by gVisor's kernel, without the host's kernel and without the seccomp profile. */
const grantedByGvisor = [
  ...['unshare', 'clone into a user namespace', 'keyctl', 'mbind'],
  ...['process_vm_readv', 'process_vm_writev', 'be more important', 'never be killed for memory'],
  ...['open /dev/fuse', 'open /dev/net/tun', 'seccomp filter is on'],
];

/** gVisor lacks much that the host's kernel has and denies, so the errors differ. */
function isAnsweredByGvisor({ name, detail }: Probe): boolean {
  if (stackEnv.sandboxRuntime !== 'runsc') return false;
  return /^E[A-Z0-9]+$/.test(detail) || grantedByGvisor.includes(name);
}

test('blocks every escape attempt', async () => {
  const run = await fixture.run(sandbox('probes.py'), { args: command });
  expect(await run.untilExited()).toMatchObject({ status: 'exited', exitCode: 0 });
  const probes = read(run.out());
  expect(probes.filter((probe) => !probe.denied && !isAnsweredByGvisor(probe))).toEqual([]);
  expect(probes.length).toBeGreaterThan(150);
  expect(new Set(probes.map((probe) => probe.group))).toEqual(
    new Set(['kernel', 'privilege', 'files', 'network']),
  );
});

test('the probes succeed without confinement', async () => {
  const spec = sandbox('probes.py');
  const { instance } = fixture.engine;
  const options = containerSpec(spec, {
    instance,
    hostCpus: 1,
    runtime: await fixture.runtimes.runtime(),
  });
  const open = {
    ...options,
    User: '0:0',
    Entrypoint: ['bash', '-c', `${command.join(' ')} >> /workspace/seen`],
    HostConfig: {
      ...options.HostConfig,
      CapDrop: [],
      CapAdd: ['SYS_ADMIN'],
      ReadonlyRootfs: false,
      SecurityOpt: ['seccomp=unconfined'],
      MaskedPaths: [],
      ReadonlyPaths: [],
    },
  };
  const container = await fixture.engine.docker.createContainer(open);
  await container.start();
  await expect.poll(() => statusOf(container.id), { timeout: 30_000 }).toBe('exited');
  const seen = read(readFileSync(join(spec.folders.workspace, 'seen'), 'utf8'));
  const allowed = seen.filter((probe) => !probe.denied).map((probe) => probe.name);
  expect(allowed).toEqual(expect.arrayContaining(['unshare', 'mount', 'bpf', 'chroot', 'keyctl']));
  expect(allowed).toEqual(expect.arrayContaining(['CapEff is empty', 'not root', 'setuid 0']));
  expect(allowed).toEqual(expect.arrayContaining(['write /etc/passwd', 'remove the spool']));
  expect(allowed.length).toBeGreaterThan(50);
});

test('allows ordinary work', async () => {
  const run = await fixture.run(sandbox('possible.sh'), {
    args: ['bash', '/workspace/possible.sh'],
  });
  const { exitCode } = await run.untilExited();
  expect(run.err()).toBe('');
  expect(exitCode).toBe(0);
  expect(run.out()).toContain('proxy answers 403');
  expect(run.out()).toContain('all done');
});
