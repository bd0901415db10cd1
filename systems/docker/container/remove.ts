import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../core/limits.ts';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import { unpauseIfGvisor } from './pause.ts';
import { transition } from './transition.ts';

const pollMs = 50;

/** If another removal is in progress, the engine returns 409; waits until it has finished. */
export async function remove(engine: Engine, containerId: string): Promise<void> {
  await unpauseIfGvisor(engine, containerId);
  const end = performance.now() + limits.engine.callTimeoutMs;
  for (;;) {
    try {
      await removeOnce(engine, containerId);
      return;
    } catch (error) {
      const busy = error instanceof DockerError && error.status === 409;
      if (!busy || performance.now() > end) throw error;
      await sleep(pollMs);
    }
  }
}

function removeOnce(engine: Engine, containerId: string) {
  return transition(engine, {
    what: 'remove',
    containerId,
    act: (container, abortSignal) => {
      const options = { force: true, v: true, abortSignal };
      return container.remove(options);
    },
    acceptable: ['missing'],
  });
}
