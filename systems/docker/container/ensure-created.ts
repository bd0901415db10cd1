// A container's name is derived from run and generation, so creating it twice fails with 409. The
// existing container is adopted only if all its identity labels match. It may become visible a
// moment later: the engine reserves the name when a creation begins, and lists the container when
// it ends.

import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../core/limits.ts';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import { containerName, foreignLabels, identityLabels } from '../labels.ts';
import type { FindMountSource } from '../mount-source.ts';
import type { RuntimeSelector } from '../runtime/runtime-selector.ts';
import { containerSpec } from './container-spec.ts';
import { findContainer } from './inspect.ts';
import type { SandboxSpec } from './sandbox-spec.ts';

export interface Created {
  containerId: string;
  /** It existed before. */
  adopted: boolean;
}

const pollMs = 50;

/** The engine, and how it runs containers on this host. */
export interface CreateDeps {
  engine: Engine;
  runtimes: Pick<RuntimeSelector, 'runtime'>;
  mountSource: FindMountSource;
}

export async function ensureCreated(deps: CreateDeps, spec: SandboxSpec): Promise<Created> {
  const end = performance.now() + limits.engine.callTimeoutMs;
  for (;;) {
    const created = (await create(deps, spec)) ?? (await adopt(deps.engine, spec));
    if (created !== null) return created;
    const name = containerName(deps.engine.instance, spec);
    if (performance.now() > end)
      throw new DockerError(
        'rejected',
        `docker: ${name} is reserved, but no such container appears`,
      );
    await sleep(pollMs);
  }
}

/** Null if the name is taken. */
async function create(
  { engine, runtimes, mountSource }: CreateDeps,
  spec: SandboxSpec,
): Promise<Created | null> {
  const name = containerName(engine.instance, spec);
  const { instance } = engine;
  const [hostCpus, source] = [await engine.cpus(), await mountSource()];
  const runtime = await runtimes.runtime();
  const body = containerSpec(spec, { instance, hostCpus, runtime, mountSource: source });
  try {
    const container = await engine.call(`create ${name}`, (abortSignal) => {
      // Separate, because dockerode would otherwise put the specification into the query as well.
      const options = { _query: { name }, _body: body, abortSignal };
      return engine.docker.createContainer(options);
    });
    return { containerId: container.id, adopted: false };
  } catch (error) {
    if (error instanceof DockerError && error.status === 409) return null;
    throw error;
  }
}

/** Null if there is no such container, or not yet. */
async function adopt(engine: Engine, spec: SandboxSpec): Promise<Created | null> {
  const name = containerName(engine.instance, spec);
  const found = await findContainer(engine, name);
  if (found === null) return null;
  const wrong = foreignLabels(identityLabels(engine.instance, spec), found.Config.Labels);
  if (wrong.length === 0) return { containerId: found.Id, adopted: true };
  throw new DockerError(
    'foreign_container',
    `docker: a container named ${name} exists and is not this sandbox: other ${wrong.join(', ')}`,
  );
}
