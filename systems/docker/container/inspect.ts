import type { ContainerInspectInfo } from 'dockerode';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import { type ContainerState, containerState, missingContainer } from './container-state.ts';

export async function inspect(engine: Engine, containerId: string): Promise<ContainerState> {
  const found = await findContainer(engine, containerId);
  return found === null ? missingContainer : containerState(found);
}

/** Finds a container by its id or name. Null if there is none. */
export async function findContainer(
  { docker, call }: Engine,
  id: string,
): Promise<ContainerInspectInfo | null> {
  try {
    return await call(`inspect ${id}`, (abortSignal) =>
      docker.getContainer(id).inspect({ abortSignal }),
    );
  } catch (error) {
    if (error instanceof DockerError && error.code === 'container_missing') return null;
    throw error;
  }
}
