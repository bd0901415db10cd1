// Starts a container that only connects to its socket, to learn whether sandboxes on a runtime can.
// The container ends on its own and the engine removes it, even if this process is gone by then.

import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerCreateOptions } from 'dockerode';
import { limits } from '../../../core/limits.ts';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import type { SandboxRuntime } from '../../../core/sandbox/sandbox-runtime.ts';
import { containerSpec } from '../container/container-spec.ts';
import { inspect } from '../container/inspect.ts';
import { remove } from '../container/remove.ts';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import { labelNames } from '../labels.ts';
import type { FindMountSource, WorkerData } from '../mount-source.ts';
import { cleanUpProbes, probeFolderPrefix } from './cleanup-probes.ts';

export interface ProbeOptions {
  runtime: SandboxRuntime;
  image?: string | undefined;
  /** A folder that the engine can mount from; the machine's temporary folder if undefined. */
  data?: Pick<WorkerData, 'dir'>;
  mountSource: FindMountSource;
}

const pollMs = 50;
const staleAfterMs = 4 * limits.engine.runtimeProbeMs;

/** Null if it can. Throws if the probe could not be made. */
export async function probeRuntime(
  engine: Engine,
  { runtime, image, data, mountSource }: ProbeOptions,
): Promise<string | null> {
  if (image === undefined) return 'no image is configured to probe it with';
  if (data !== undefined) await cleanUp(engine, data.dir);
  const folder = await mkdtemp(join(data?.dir ?? tmpdir(), probeFolderPrefix));
  await chmod(folder, 0o755);
  let reached = false;
  const listener = createServer((client) => {
    reached = true;
    client.end();
  });
  try {
    await listen(listener, join(folder, 'x'));
    const failure = await runProbe(
      engine,
      await probeSpec(engine, { runtime, image, folder, mountSource }),
    );
    if (reached) return null;
    return failure ?? 'a sandbox on it does not reach its socket';
  } finally {
    listener.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A failure does not prevent the probe; the next probe cleans up again. */
const cleanUp = (engine: Engine, dir: string): Promise<void> =>
  cleanUpProbes(engine, { dir, olderThanMs: staleAfterMs }).catch(() => {});

async function listen(listener: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(path, resolve);
  });
  await chmod(path, 0o666);
}

/** Confined like every sandbox; only its command and AutoRemove differ. */
async function probeSpec(
  engine: Engine,
  { runtime, image, folder, mountSource }: ProbeOptions & { image: string; folder: string },
): Promise<ContainerCreateOptions> {
  const { instance } = engine;
  const sandbox = {
    ...{ runId: randomUUID(), projectId: '', generation: 0, hostId: '', image },
    ...{ memoryBytes: limits.sandbox.memoryBytes, cpus: limits.sandbox.cpus },
    folders: { workspace: folder, spool: folder, config: folder, socket: folder },
    deadline: new Date(Date.now() + limits.engine.runtimeProbeMs),
  };
  const [hostCpus, source] = [await engine.cpus(), await mountSource()];
  const spec = containerSpec(sandbox, { instance, hostCpus, runtime, mountSource: source });
  return {
    ...spec,
    Labels: { [labelNames.probe]: instance },
    Entrypoint: [sandboxPaths.entry, '-e', connectScript],
    HostConfig: { ...spec.HostConfig, AutoRemove: true },
  };
}

/**
 * A 400 means that the engine would reject every sandbox on this runtime. Other failures, such as a
 * full disk, may pass, and are thrown.
 */
async function runProbe(engine: Engine, spec: ContainerCreateOptions): Promise<string | null> {
  const { id } = await engine.call('create a runtime probe', (abortSignal) => {
    const options = { _query: {}, _body: spec, abortSignal }; // separate, as for every sandbox
    return engine.docker.createContainer(options);
  });
  try {
    const container = engine.docker.getContainer(id);
    await engine.call('start a runtime probe', (abortSignal) => container.start({ abortSignal }));
    await waitUntilEnded(engine, id);
    return null;
  } catch (error) {
    const isRejected = error instanceof DockerError && error.code === 'rejected';
    if (!isRejected || error.status !== 400) throw error;
    return `a sandbox on it does not start (${error.message})`;
  } finally {
    await remove(engine, id);
  }
}

async function waitUntilEnded(engine: Engine, id: string): Promise<void> {
  const end = performance.now() + limits.engine.runtimeProbeMs;
  for (;;) {
    const { status } = await inspect(engine, id);
    if (status === 'exited' || status === 'missing') return;
    if (performance.now() > end) {
      throw new DockerError('engine_timeout', `docker: the runtime probe ${id} does not end`);
    }
    await sleep(pollMs);
  }
}

/** Ends as soon as the connection is accepted or rejected. */
const connectScript = `
  setTimeout(() => process.exit(), ${limits.engine.runtimeProbeMs / 2});
  const end = () => process.exit();
  require('net').connect('${sandboxPaths.socket}').on('close', end).on('error', end);
`;
