import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import { findContainer } from './inspect.ts';
import { transition } from './transition.ts';

const freezeAttemptsMax = 10;

/**
 * With version 1 of control groups, runc may fail to freeze a container whose processes start
 * others all the time, more often if it has little CPU.
 */
export async function pause(engine: Engine, containerId: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryPause(engine, containerId);
    } catch (error) {
      if (attempt === freezeAttemptsMax || !isFreezeFailure(error)) throw error;
    }
  }
}

function tryPause(engine: Engine, containerId: string): Promise<void> {
  return transition(engine, {
    what: 'pause',
    containerId,
    act: (container, abortSignal) => container.pause({ abortSignal }),
    acceptable: ['paused', 'created', 'exited', 'missing'],
  });
}

const isFreezeFailure = (error: unknown): boolean =>
  error instanceof DockerError && error.message.includes('unable to freeze');

export function unpause(engine: Engine, containerId: string): Promise<void> {
  return transition(engine, {
    what: 'unpause',
    containerId,
    act: (container, abortSignal) => container.unpause({ abortSignal }),
    acceptable: ['running', 'created', 'exited', 'missing'],
  });
}

/** A paused gVisor sandbox handles no signals and blocks the engine, so it is resumed first. */
export async function unpauseIfGvisor(engine: Engine, containerId: string): Promise<void> {
  const found = await findContainer(engine, containerId);
  const isPausedGvisor = found?.State.Paused === true && found.HostConfig.Runtime === 'runsc';
  if (isPausedGvisor) await unpause(engine, containerId);
}
