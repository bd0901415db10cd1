import { randomUUID } from 'node:crypto';
import type { Container } from 'dockerode';
import { limits } from '../../core/limits.ts';
import type { OfflineModel } from '../../offline-model/server.ts';
import { containerSpec, nanoCpus } from '../../systems/docker/container/container-spec.ts';
import type { SandboxSpec } from '../../systems/docker/container/sandbox-spec.ts';
import type { Engine } from '../../systems/docker/engine.ts';
import { openDocker } from '../../systems/docker/open-docker.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { foldersOf, makeFolders, removeTree } from '../../worker/sandbox/sandbox-paths.ts';
import { type BareHost, serveBareSandbox } from './bare-host.ts';
import { type WatchedSpool, watchSpool } from './watch-spool.ts';

export interface BareOptions {
  image: string;
  model: OfflineModel;
  dataDir: string;
  prompt: string;
}

/** Creates a container with the service's own specification, without the rest of the service. */
interface BareContainer {
  host: BareHost;
  spool: WatchedSpool;
  /** Lives until the container is removed. */
  deadline: AbortSignal;
  create(): Promise<Container>;
  /** The agent has printed its first line: limits its CPUs as the service does for a sandbox. */
  applyCpuLimit(container: Container): Promise<unknown>;
  remove(container: Container): Promise<void>;
}

const deadlineMs = 60_000;

export async function prepareBare(
  engine: Engine,
  { image, model, dataDir, prompt }: BareOptions,
  livesForMs: number = deadlineMs,
): Promise<BareContainer> {
  const ref = { runId: randomUUID(), generation: 1 };
  const folders = foldersOf(dataDir, ref);
  await makeFolders(folders);
  const host = await serveBareSandbox(folders.socketFile, { ...ref, prompt, modelUrl: model.url });
  const hostCpus = await engine.cpus();
  const spec: SandboxSpec = {
    ...ref,
    projectId: 'bare',
    image,
    hostId: 'bare',
    folders,
    memoryBytes: limits.sandboxMemoryBytes,
    cpus: limits.sandboxCpus,
    deadline: new Date(Date.now() + limits.runTimeoutMs),
  };
  const runtime = await openDocker({
    dockerHost: stackEnv.dockerHost,
    instance: engine.instance,
    runtime: stackEnv.sandboxRuntime,
  }).runtimes.runtime();
  const body = containerSpec(spec, { instance: engine.instance, hostCpus, runtime });
  const deadline = AbortSignal.timeout(livesForMs);
  const name = `frs-${engine.instance}-${ref.runId}`;
  const creation = { _query: { name }, _body: body, abortSignal: deadline };
  const spool = watchSpool(folders.spoolFile);
  return {
    host,
    spool,
    deadline,
    create: () => engine.docker.createContainer(creation),
    applyCpuLimit: (container) => container.update({ NanoCpus: nanoCpus(spec.cpus, hostCpus) }),
    async remove(container) {
      spool.close();
      await container.remove({ force: true, v: true });
      await host.close();
      await removeTree(folders.root);
      await removeTree(folders.socket);
    },
  };
}
