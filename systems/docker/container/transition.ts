import type { Container } from 'dockerode';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import type { ContainerStatus } from './container-state.ts';
import { inspect } from './inspect.ts';

interface Transition {
  /** The verb, for error messages. */
  what: string;
  containerId: string;
  act(container: Container, abortSignal: AbortSignal): Promise<unknown>;
  /** States in which an error of the engine is ignored, because there is nothing left to do. */
  acceptable: readonly ContainerStatus[];
}

/**
 * Returns null, or the state that makes an error irrelevant. Engines report a transition that is
 * not needed differently (409, 304, 500, by version and verb), so the container's state decides
 * whether an error matters.
 */
export async function transition(
  engine: Engine,
  step: Transition,
): Promise<ContainerStatus | null> {
  const container = engine.docker.getContainer(step.containerId);
  try {
    await engine.call(`${step.what} ${step.containerId}`, (signal) => step.act(container, signal));
    return null;
  } catch (error) {
    const isResponse = error instanceof DockerError && error.status !== null;
    if (!isResponse) throw error;
    const { status } = await inspect(engine, step.containerId);
    if (!step.acceptable.includes(status)) throw error;
    return status;
  }
}
