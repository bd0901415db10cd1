import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../core/limits.ts';
import { DockerError } from '../docker-error.ts';
import type { Engine } from '../engine.ts';
import type { ContainerStatus } from './container-state.ts';
import { findContainer } from './inspect.ts';
import { transition } from './transition.ts';

const freezeAttemptsMax = 10;
const lateEventPollMs = 20;

type Verb = 'pause' | 'unpause';

const wanted: Record<Verb, ContainerStatus> = { pause: 'paused', unpause: 'running' };

/**
 * An engine also takes the state of a container from events, and a late event makes it wrong for a
 * moment: a container that was paused and unpaused is `paused` again until the second event
 * arrives. Meanwhile the engine rejects a pause as unnecessary. So the last success is remembered,
 * and a state that contradicts it is believed only if it stays.
 */
interface Pauses {
  pause(containerId: string): Promise<void>;
  unpause(containerId: string): Promise<void>;
  /** The container was removed. */
  forget(containerId: string): void;
}

export function createPauses(engine: Engine): Pauses {
  const succeeded = new Map<string, Verb>();

  async function change(verb: Verb, containerId: string): Promise<void> {
    const end = performance.now() + limits.engine.lateEventMs;
    for (;;) {
      const isLate = performance.now() > end;
      try {
        const found = await tryOften(engine, verb, containerId);
        if (found === null) succeeded.set(containerId, verb);
        const before = succeeded.get(containerId) ?? verb;
        if (found !== wanted[verb] || before === verb || isLate) return;
      } catch (error) {
        if (!isUnnecessary(error) || isLate) throw error;
      }
      await sleep(lateEventPollMs);
    }
  }

  return {
    pause: (containerId) => change('pause', containerId),
    unpause: (containerId) => change('unpause', containerId),
    forget: (containerId) => void succeeded.delete(containerId),
  };
}

/**
 * Returns null, or the state that made the call unnecessary. With version 1 of control groups, runc
 * may fail to freeze a container whose processes start others all the time, more often if it has
 * little CPU.
 */
async function tryOften(
  engine: Engine,
  verb: Verb,
  containerId: string,
): Promise<ContainerStatus | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryOnce(engine, verb, containerId);
    } catch (error) {
      if (attempt === freezeAttemptsMax || !isFreezeFailure(error)) throw error;
    }
  }
}

function tryOnce(engine: Engine, verb: Verb, containerId: string) {
  return transition(engine, {
    what: verb,
    containerId,
    act: (container, abortSignal) => container[verb]({ abortSignal }),
    acceptable: [wanted[verb], 'created', 'exited', 'missing'],
  });
}

const isFreezeFailure = (error: unknown): boolean =>
  error instanceof DockerError && error.message.includes('unable to freeze');

/** The engine had the wanted state when it answered, and another one when it was inspected. */
const isUnnecessary = (error: unknown): boolean =>
  error instanceof DockerError && /is (already|not) paused/i.test(error.message);

/** A paused gVisor sandbox handles no signals and blocks the engine, so it is resumed first. */
export async function unpauseIfGvisor(engine: Engine, containerId: string): Promise<void> {
  const found = await findContainer(engine, containerId);
  const isPausedGvisor = found?.State.Paused === true && found.HostConfig.Runtime === 'runsc';
  if (isPausedGvisor) await tryOnce(engine, 'unpause', containerId);
}
