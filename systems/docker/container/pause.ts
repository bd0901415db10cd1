import type { Engine } from '../engine.ts';
import { findContainer } from './inspect.ts';
import { transition } from './transition.ts';

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
