import { nanoCpus } from './container/container-spec.ts';
import type { ContainerState } from './container/container-state.ts';
import { type CreateDeps, type Created, ensureCreated } from './container/ensure-created.ts';
import { inspect } from './container/inspect.ts';
import { type ListedSandbox, list } from './container/list.ts';
import { remove } from './container/remove.ts';
import type { SandboxSpec } from './container/sandbox-spec.ts';
import { transition } from './container/transition.ts';
import { unpause, unpauseIfGvisor } from './container/unpause-gvisor.ts';
import { type ExitHint, type Watch, watchExits } from './container/watch-exits.ts';
import { DockerError } from './docker-error.ts';
import type { Engine } from './engine.ts';

/** Every verb is safe to repeat, ends within the engine's deadline, and throws DockerError. */
export interface Sandboxes {
  /** Creates it, or takes over the one that an earlier attempt has made. */
  ensureCreated(spec: SandboxSpec): Promise<Created>;
  /** Starts what was never started; what has run is left as it ended. */
  start(containerId: string): Promise<void>;
  /** `missing` is a state, not an error. */
  inspect(containerId: string): Promise<ContainerState>;
  /** Nothing happens where nothing runs. */
  signal(containerId: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  pause(containerId: string): Promise<void>;
  unpause(containerId: string): Promise<void>;
  setCpus(containerId: string, cpus: number): Promise<void>;
  /** Running or not, with all that the engine keeps of it. */
  remove(containerId: string): Promise<void>;
  list(): Promise<ListedSandbox[]>;
  watchExits(onExit: (hint: ExitHint) => void): Watch;
}

export function createSandboxes(deps: CreateDeps): Sandboxes {
  const { engine } = deps;
  return {
    ...adjustments(engine),
    ensureCreated: (spec) => ensureCreated(deps, spec),
    start: (id) => start(engine, id),
    inspect: (id) => inspect(engine, id),
    signal: (id, name) => signal(engine, id, name),
    remove: (id) => remove(engine, id),
    list: () => list(engine),
    watchExits: (onExit) => watchExits(engine, onExit),
  };
}

/** A second run of the same container would find no configuration and cover the first exit code. */
async function start(engine: Engine, containerId: string): Promise<void> {
  const { status } = await inspect(engine, containerId);
  if (status === 'missing') {
    throw new DockerError('container_missing', `docker: start ${containerId}: no such container`);
  }
  if (status !== 'created') return;
  await transition(engine, {
    what: 'start',
    containerId,
    act: (container, abortSignal) => container.start({ abortSignal }),
    acceptable: ['running', 'exited'],
  });
}

async function signal(engine: Engine, containerId: string, name: string): Promise<void> {
  await unpauseIfGvisor(engine, containerId);
  return transition(engine, {
    what: `send ${name} to`,
    containerId,
    act: (container, abortSignal) => container.kill({ signal: name, abortSignal }),
    acceptable: ['created', 'exited', 'missing'],
  });
}

function adjustments(engine: Engine): Pick<Sandboxes, 'pause' | 'unpause' | 'setCpus'> {
  return {
    pause: (containerId) =>
      transition(engine, {
        what: 'pause',
        containerId,
        act: (container, abortSignal) => container.pause({ abortSignal }),
        acceptable: ['paused', 'created', 'exited', 'missing'],
      }),
    unpause: (containerId) => unpause(engine, containerId),
    setCpus: async (containerId, cpus) => {
      const wanted = { NanoCpus: nanoCpus(cpus, await engine.cpus()) };
      return transition(engine, {
        what: `limit to ${cpus} cpus`,
        containerId,
        act: (container, abortSignal) => container.update({ ...wanted, abortSignal }),
        acceptable: ['exited', 'missing'],
      });
    },
  };
}
