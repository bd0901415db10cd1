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

/** gVisor hears nothing while it is paused, and keeps the engine waiting: it has to go on to be ended. */
export async function unpauseIfGvisor(engine: Engine, containerId: string): Promise<void> {
  const found = await findContainer(engine, containerId);
  const isDeaf = found?.State.Paused === true && found.HostConfig.Runtime === 'runsc';
  if (isDeaf) await unpause(engine, containerId);
}
