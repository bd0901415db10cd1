import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../../../core/limits.ts';
import type { SandboxConfig } from '../../../../../core/sandbox/sandbox-config.ts';
import { sandboxPaths } from '../../../../../core/sandbox/sandbox-config.ts';
import type { RunFolders } from '../../../../../systems/docker/confinement/mounts.ts';
import type { ContainerState } from '../../../../../systems/docker/container/container-state.ts';
import type { SandboxSpec } from '../../../../../systems/docker/container/sandbox-spec.ts';
import type { Engine } from '../../../../../systems/docker/engine.ts';
import { openDocker } from '../../../../../systems/docker/open-docker.ts';
import type { RuntimeSelector } from '../../../../../systems/docker/runtime/runtime-selector.ts';
import type { Sandboxes } from '../../../../../systems/docker/sandboxes.ts';
import { type FakeHost, fakeHost } from '../../../../support/fake-host.ts';
import { stackEnv } from '../../../../support/stack-env.ts';

/** Real containers under a separate instance label; `close` removes everything they leave. */
export interface DockerFixture {
  engine: Engine;
  runtimes: RuntimeSelector;
  sandboxes: Sandboxes;
  /** The specification of a sandbox, with folders created like on a host. */
  spec(changes?: Partial<SandboxSpec>): SandboxSpec;
  /** Starts it with a fake host behind its socket. */
  run(spec: SandboxSpec, config?: Partial<SandboxConfig>): Promise<Running>;
  close(): Promise<void>;
}

interface Running {
  containerId: string;
  host: FakeHost;
  out(): string;
  err(): string;
  untilOut(text: string): Promise<void>;
  untilExited(): Promise<ContainerState>;
}

export function createDockerFixture(): DockerFixture {
  const instance = `t${randomBytes(4).toString('hex')}`;
  const { dockerHost, sandboxRuntime: runtime } = stackEnv;
  const docker = openDocker({ dockerHost, instance, runtime });
  const { engine, sandboxes, runtimes } = docker;
  mkdirSync(stackEnv.dataDir, { recursive: true });
  const root = mkdtempSync(join(stackEnv.dataDir, 'd-'));
  const hosts: FakeHost[] = [];

  function spec(changes: Partial<SandboxSpec> = {}): SandboxSpec {
    const runId = changes.runId ?? randomUUID();
    return {
      runId,
      projectId: 'project-1',
      generation: 1,
      image: stackEnv.sandboxImage,
      hostId: 'host-1',
      folders: makeFolders(join(root, runId.slice(0, 12))),
      memoryBytes: limits.sandbox.memoryBytes,
      cpus: limits.sandbox.cpus,
      deadline: new Date(Date.now() + 60 * 60 * 1_000),
      ...changes,
    };
  }

  async function run(wanted: SandboxSpec, config: Partial<SandboxConfig> = {}): Promise<Running> {
    const host = fakeHost({ socket: join(wanted.folders.socket, 'x'), config });
    await host.up();
    hosts.push(host);
    const { containerId } = await sandboxes.ensureCreated(wanted);
    await sandboxes.start(containerId);
    const read = (name: string): string => readFileSync(join(wanted.folders.spool, name), 'utf8');
    return {
      containerId,
      host,
      out: () => read('out'),
      err: () => read('err'),
      untilOut: (text) =>
        until(
          () => read('out').includes(text),
          () => `"${text}" in ${read('out')}`,
        ),
      untilExited: () => untilExited(sandboxes, containerId),
    };
  }

  async function close(): Promise<void> {
    for (const { containerId } of await sandboxes.list()) await sandboxes.remove(containerId);
    await Promise.all(hosts.map((host) => host.down()));
    rmSync(root, { recursive: true, force: true });
  }

  return { engine, runtimes, sandboxes, spec, run, close };
}

function makeFolders(root: string): RunFolders {
  const { uid, gid } = sandboxPaths;
  const folders = {
    workspace: join(root, 'workspace'),
    spool: join(root, 'spool'),
    config: join(root, 'config'),
    socket: join(root, 's'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  for (const folder of [folders.workspace, folders.config]) chownSync(folder, uid, gid);
  for (const name of ['out', 'err']) {
    const file = join(folders.spool, name);
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
  return folders;
}

async function untilExited(sandboxes: Sandboxes, containerId: string): Promise<ContainerState> {
  let state = await sandboxes.inspect(containerId);
  await until(
    async () => {
      state = await sandboxes.inspect(containerId);
      return state.status === 'exited' || state.status === 'missing';
    },
    () => `the end of ${containerId}, which is ${state.status}`,
  );
  return state;
}

async function until(
  condition: () => boolean | Promise<boolean>,
  describe: () => string,
): Promise<void> {
  const end = performance.now() + 170_000; // the test's own time is mostly shorter
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain for ${describe()}`);
    await sleep(25);
  }
}
