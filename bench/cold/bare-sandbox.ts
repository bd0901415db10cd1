// The limit of a cold start: the very container that the service would make, created and started by
// two calls to the engine, its output read from the spool as it comes. What the service does around
// it (Temporal, Postgres, Redis, the stream) is missing here, and that is what the ratio shows.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../core/limits.ts';
import type { OfflineModel } from '../../dev/offline-model/server.ts';
import { containerSpec, nanoCpus } from '../../systems/docker/container-spec.ts';
import { createEngine, type Engine } from '../../systems/docker/engine.ts';
import type { SandboxSpec } from '../../systems/docker/sandbox-spec.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { foldersOf, makeFolders, removeTree } from '../../worker/supervisor/folders.ts';
import type { Sample } from '../measure/scenario.ts';
import { serveBareSandbox } from './bare-host.ts';
import { isInit, saysText } from './first-text.ts';
import { watchSpool } from './watch-spool.ts';

export interface BareOptions {
  image: string;
  model: OfflineModel;
  dataDir: string;
  prompt: string;
}

export interface BareSandbox {
  run(): Promise<Sample>;
  close(): Promise<void>;
}

const settleMs = 300;
const deadlineMs = 60_000;

export function openBareSandbox(options: BareOptions): BareSandbox {
  const instance = `bare-${randomUUID().slice(0, 8)}`;
  const engine = createEngine({ dockerHost: stackEnv.dockerHost, instance });
  return {
    async run() {
      const sample = await runOnce(engine, options);
      await sleep(settleMs);
      return sample;
    },
    close: async () => undefined,
  };
}

async function runOnce(engine: Engine, options: BareOptions): Promise<Sample> {
  const ref = { runId: randomUUID(), generation: 1 };
  const folders = foldersOf(options.dataDir, ref);
  await makeFolders(folders);
  const { model, prompt } = options;
  const host = await serveBareSandbox(folders.socketFile, { ...ref, prompt, modelUrl: model.url });
  const hostCpus = await engine.cpus();
  const spec: SandboxSpec = {
    ...ref,
    projectId: 'bare',
    image: options.image,
    hostId: 'bare',
    folders,
    memoryBytes: limits.sandboxMemoryBytes,
    cpus: limits.sandboxCpus,
    deadline: new Date(Date.now() + limits.runTimeoutMs),
  };
  const body = containerSpec(spec, { instance: engine.instance, hostCpus });
  const abortSignal = AbortSignal.timeout(deadlineMs);
  const name = `frs-${engine.instance}-${ref.runId}`;
  const creation = { _query: { name }, _body: body, abortSignal };
  const spool = watchSpool(folders.spoolFile);

  const begun = performance.now();
  const container = await engine.docker.createContainer(creation);
  try {
    await container.start({ abortSignal });
    await spool.untilLine(() => true);
    const limiting = container.update({ NanoCpus: nanoCpus(spec.cpus, hostCpus) });
    const init = (await spool.untilLine(isInit)) - begun;
    const value = (await spool.untilLine(saysText)) - begun;
    await limiting;
    host.closeInput();
    await container.wait({ abortSignal });
    return { value, also: { init } };
  } finally {
    spool.close();
    await container.remove({ force: true, v: true });
    await host.close();
    await removeTree(folders.root);
    await removeTree(folders.socket);
  }
}
