// Which runtime sandboxes get. It is named in each container's specification, so that an engine whose
// default is another one, or that has lost this one since, refuses instead of taking something else.

import { isDeepStrictEqual } from 'node:util';
import type { RuntimeSetting, SandboxRuntime } from '../../../core/sandbox/sandbox-runtime.ts';
import { DockerError } from '../docker-error.ts';

export interface RuntimeSelector {
  /** The one that sandboxes get; found at the first use. */
  runtime(): Promise<SandboxRuntime>;
  /**
   * Asks the engine anew. DockerError `runtime_missing` where it does not have what is wanted,
   * `runtime_unusable` where sandboxes on that could not reach their socket.
   */
  findRuntime(): Promise<SandboxRuntime>;
}

/** How the engine calls a runtime, as far as it tells. */
export interface ListedRuntime {
  path?: string;
  runtimeArgs?: string[] | null;
}

export type ListedRuntimes = Readonly<Record<string, ListedRuntime>>;

export interface RuntimeProbes {
  listed(): Promise<ListedRuntimes>;
  /** Why a sandbox on it does not reach its socket, as one has found out; null where it does. */
  probe(runtime: SandboxRuntime): Promise<string | null>;
}

/**
 * What `auto` has once come to stays wanted as long as this process lives: a gVisor that is gone later
 * is missing, one that cannot be used is unusable; neither becomes runc.
 */
export function createRuntimeSelector(
  setting: RuntimeSetting,
  { listed, probe: tryOut }: RuntimeProbes,
): RuntimeSelector {
  let wanted = setting;
  let known: SandboxRuntime | null = null;
  const probeFailure = cacheProbes(tryOut);

  async function findRuntime(): Promise<SandboxRuntime> {
    const runtimes = await listed();
    const chosen = wanted === 'auto' ? bestOf(runtimes) : wanted;
    wanted = chosen;
    known = null;
    const entry = runtimes[chosen];
    if (entry === undefined) throw missing(chosen, Object.keys(runtimes));
    const why = opensSockets(chosen, entry) ? null : await probeFailure(chosen, entry);
    if (why !== null) throw unusable(chosen, why);
    known = chosen;
    return chosen;
  }

  return { runtime: async () => known ?? findRuntime(), findRuntime };
}

const bestOf = (runtimes: ListedRuntimes): SandboxRuntime =>
  runtimes['runsc'] === undefined ? 'runc' : 'runsc';

/** gVisor opens a socket of the host only where it is told to; on runc there is nothing to tell. */
function opensSockets(runtime: SandboxRuntime, { runtimeArgs }: ListedRuntime): boolean {
  if (runtime === 'runc') return true;
  return /(^| )--?host-uds[= ](open|all)( |$)/.test((runtimeArgs ?? []).join(' '));
}

/** A trial can fail for what has nothing to do with the runtime: the machine was out of memory. */
const negativeCacheMs = 60_000;

/**
 * What the engine does not tell (a program around it, a file of settings) shows only when it is tried:
 * once for each way in which it is listed, and again a while after one that failed. A trial that came
 * to nothing is not remembered.
 */
function cacheProbes(tryOut: RuntimeProbes['probe']) {
  let last: { entry: ListedRuntime; why: Promise<string | null>; until: number } | null = null;
  return (runtime: SandboxRuntime, entry: ListedRuntime): Promise<string | null> => {
    if (last !== null && performance.now() < last.until && isDeepStrictEqual(last.entry, entry))
      return last.why;
    const trial = { entry, why: tryOut(runtime), until: Number.POSITIVE_INFINITY };
    last = trial;
    trial.why.then(
      (why) => {
        if (why !== null) trial.until = performance.now() + negativeCacheMs;
      },
      () => {
        if (last === trial) last = null;
      },
    );
    return trial.why;
  };
}

function missing(wanted: SandboxRuntime, names: string[]): DockerError {
  const there = names.length === 0 ? 'none' : names.join(', ');
  return new DockerError(
    'runtime_missing',
    `docker: the engine does not have the runtime ${wanted}, only ${there}`,
  );
}

function unusable(wanted: SandboxRuntime, why: string): DockerError {
  return new DockerError(
    'runtime_unusable',
    `docker: the engine lists the runtime ${wanted} without --host-uds=open, and ${why}`,
  );
}
