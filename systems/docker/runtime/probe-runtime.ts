// Whether a sandbox on a runtime reaches its socket: one is started that does nothing else, with a
// listener of ours behind its socket. Nothing of it stays: the engine removes it when it ends, which
// it does by itself, also where this process is gone by then.

import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerCreateOptions } from 'dockerode';
import { limits } from '../../../core/limits.ts';
import { sandboxPaths } from '../../../core/sandbox/sandbox.ts';
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
const staleAfterMs = 4 * limits.runtimeProbeMs;

/** Null where it does. What keeps the trial from being made is thrown. */
export async function probeRuntime(
  engine: Engine,
  { runtime, image, data, mountSource }: ProbeOptions,
): Promise<string | null> {
  if (image === undefined) return 'no image is known here that it could be tried with';
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
    const refusal = await runProbe(
      engine,
      await probeSpec(engine, { runtime, image, folder, mountSource }),
    );
    if (reached) return null;
    return refusal ?? 'a sandbox on it does not reach its socket';
  } finally {
    listener.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What cannot be removed is no reason not to try; the next trial comes back to it. */
const cleanUp = (engine: Engine, dir: string): Promise<void> =>
  cleanUpProbes(engine, { dir, olderThanMs: staleAfterMs }).catch(() => {});

async function listen(listener: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(path, resolve);
  });
  await chmod(path, 0o666);
}

/** Held in like every sandbox, but for what it runs and what becomes of it. */
async function probeSpec(
  engine: Engine,
  { runtime, image, folder, mountSource }: ProbeOptions & { image: string; folder: string },
): Promise<ContainerCreateOptions> {
  const { instance } = engine;
  const sandbox = {
    ...{ runId: randomUUID(), projectId: '', generation: 0, hostId: '', image },
    ...{ memoryBytes: limits.sandboxMemoryBytes, cpus: limits.sandboxCpus },
    folders: { workspace: folder, spool: folder, config: folder, socket: folder },
    deadline: new Date(Date.now() + limits.runtimeProbeMs),
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
 * That the engine cannot take what is asked for is an answer, too: it would refuse every sandbox on it.
 * Whatever else it fails for, a full disk or itself, may be over a moment later.
 */
async function runProbe(engine: Engine, spec: ContainerCreateOptions): Promise<string | null> {
  const { id } = await engine.call('create a trial sandbox', (abortSignal) => {
    const options = { _query: {}, _body: spec, abortSignal }; // apart, as for every sandbox
    return engine.docker.createContainer(options);
  });
  try {
    const container = engine.docker.getContainer(id);
    await engine.call('start a trial sandbox', (abortSignal) => container.start({ abortSignal }));
    await waitUntilEnded(engine, id);
    return null;
  } catch (error) {
    const isAnswer = error instanceof DockerError && error.code === 'refused';
    if (!isAnswer || error.status !== 400) throw error;
    return `a sandbox on it does not start (${error.message})`;
  } finally {
    await remove(engine, id);
  }
}

async function waitUntilEnded(engine: Engine, id: string): Promise<void> {
  const end = performance.now() + limits.runtimeProbeMs;
  for (;;) {
    const { status } = await inspect(engine, id);
    if (status === 'exited' || status === 'missing') return;
    if (performance.now() > end) {
      throw new DockerError('engine_timeout', `docker: a trial sandbox (${id}) does not end`);
    }
    await sleep(pollMs);
  }
}

/** Ends at once when it is answered or refused. */
const connectScript = `
  setTimeout(() => process.exit(), ${limits.runtimeProbeMs / 2});
  const end = () => process.exit();
  require('net').connect('${sandboxPaths.socket}').on('close', end).on('error', end);
`;
