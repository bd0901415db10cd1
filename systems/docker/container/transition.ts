import type { Container } from 'dockerode';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import type { ContainerStatus } from './container-state.ts';
import { inspect } from './inspect.ts';

export interface Transition {
  /** The verb, for messages. */
  what: string;
  containerId: string;
  act(container: Container, abortSignal: AbortSignal): Promise<unknown>;
  /** States in which there is nothing left to do, so that a refusal is no failure. */
  acceptable: readonly ContainerStatus[];
}

/**
 * Engines word their refusals differently (409, 304, 500, by version and verb), so none is read:
 * whether a refused step is a failure is asked of the container itself.
 */
export async function transition(engine: Engine, step: Transition): Promise<void> {
  const container = engine.docker.getContainer(step.containerId);
  try {
    await engine.call(`${step.what} ${step.containerId}`, (signal) => step.act(container, signal));
  } catch (error) {
    const answered = error instanceof DockerError && error.status !== null;
    if (!answered) throw error;
    const { status } = await inspect(engine, step.containerId);
    if (!step.acceptable.includes(status)) throw error;
  }
}
