import { nanoCpus } from './container/container-spec.ts';
import type { ContainerState } from './container/container-state.ts';
import { type CreateDeps, type Created, ensureCreated } from './container/ensure-created.ts';
import { find } from './container/find.ts';
import { inspect } from './container/inspect.ts';
import { type ListedSandbox, list } from './container/list.ts';
import { createPauses, unpauseIfGvisor } from './container/pause.ts';
import { remove } from './container/remove.ts';
import type { SandboxSpec } from './container/sandbox-spec.ts';
import { transition } from './container/transition.ts';
import { type ExitObserver, type Watch, watchExits } from './container/watch-exits.ts';
import { DockerError } from './docker-error.ts';
import type { Engine } from './engine.ts';

/** Every method is safe to repeat, ends within the engine's deadline, and throws DockerError. */
export interface Sandboxes {
  /** Creates the container, or adopts the one of an earlier attempt. */
  ensureCreated(spec: SandboxSpec): Promise<Created>;
  /** Does nothing if the container was started before. */
  start(containerId: string): Promise<void>;
  /** `missing` is a state, not an error. */
  inspect(containerId: string): Promise<ContainerState>;
  /** Does nothing if the container is not running. */
  signal(containerId: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  pause(containerId: string): Promise<void>;
  unpause(containerId: string): Promise<void>;
  setCpus(containerId: string, cpus: number): Promise<void>;
  /** Running or not, with its volumes. */
  remove(containerId: string): Promise<void>;
  /** By its name. Null if the engine has none. */
  find(ref: { runId: string; generation: number }): Promise<ListedSandbox | null>;
  /** All, or those of a run. */
  list(run?: { runId: string }): Promise<ListedSandbox[]>;
  watchExits(observer: ExitObserver): Watch;
}

export function createSandboxes(deps: CreateDeps): Sandboxes {
  const { engine } = deps;
  const { pause, unpause, forget } = createPauses(engine);
  return {
    pause,
    unpause,
    setCpus: (id, cpus) => setCpus(engine, id, cpus),
    ensureCreated: (spec) => ensureCreated(deps, spec),
    start: (id) => start(engine, id),
    inspect: (id) => inspect(engine, id),
    signal: (id, name) => signal(engine, id, name),
    remove: (id) => remove(engine, id).then(() => forget(id)),
    find: (ref) => find(engine, ref),
    list: (run) => list(engine, run),
    watchExits: (observer) => watchExits(engine, observer),
  };
}

/** A restarted container would have no configuration, and would overwrite its exit code. */
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
  await transition(engine, {
    what: `send ${name} to`,
    containerId,
    act: (container, abortSignal) => container.kill({ signal: name, abortSignal }),
    acceptable: ['created', 'exited', 'missing'],
  });
}

async function setCpus(engine: Engine, containerId: string, cpus: number): Promise<void> {
  const update = { NanoCpus: nanoCpus(cpus, await engine.cpus()) };
  await transition(engine, {
    what: `limit to ${cpus} cpus`,
    containerId,
    act: (container, abortSignal) => container.update({ ...update, abortSignal }),
    acceptable: ['exited', 'missing'],
  });
}
