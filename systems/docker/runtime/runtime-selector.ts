// The runtime is named in each container's specification: an engine with another default, or one
// that has lost this runtime since, fails the creation instead of falling back.

import { isDeepStrictEqual } from 'node:util';
import type { RuntimeSetting, SandboxRuntime } from '../../../core/sandbox/sandbox-runtime.ts';
import { DockerError } from '../docker-error.ts';
import type { Engine, ListedRuntime, ListedRuntimes } from '../engine.ts';
import { type ProbeOptions, probeRuntime } from './probe-runtime.ts';

export interface RuntimeSelector {
  /** The runtime of sandboxes; selected at the first call. */
  runtime(): Promise<SandboxRuntime>;
  /**
   * Asks the engine again. DockerError `runtime_missing` if it does not list the runtime,
   * `runtime_unusable` if sandboxes on it could not reach their socket.
   */
  findRuntime(): Promise<SandboxRuntime>;
}

interface RuntimeProbes {
  listed(): Promise<ListedRuntimes>;
  /** Why a sandbox on this runtime does not reach its socket; null if it does. */
  probe(runtime: SandboxRuntime): Promise<string | null>;
}

interface SelectorOptions extends Omit<ProbeOptions, 'runtime'> {
  /** `auto` if undefined. */
  runtime?: RuntimeSetting;
}

export function createRuntimeSelector(
  engine: Engine,
  { runtime: setting = 'auto', ...probing }: SelectorOptions,
): RuntimeSelector {
  return selectRuntime(setting, {
    listed: async () => (await engine.facts()).runtimes,
    probe: (runtime) => probeRuntime(engine, { ...probing, runtime }),
  });
}

/**
 * What `auto` first resolves to stays selected for the life of this process: a gVisor that
 * disappears is missing, and one that stops working is unusable; neither falls back to runc.
 */
export function selectRuntime(
  setting: RuntimeSetting,
  { listed, probe }: RuntimeProbes,
): RuntimeSelector {
  let selected = setting;
  let usable: SandboxRuntime | null = null;
  const probeFailure = cacheProbes(probe);

  async function findRuntime(): Promise<SandboxRuntime> {
    const runtimes = await listed();
    const runtime = selected === 'auto' ? bestOf(runtimes) : selected;
    selected = runtime;
    usable = null;
    const entry = runtimes[runtime];
    if (entry === undefined) throw missing(runtime, Object.keys(runtimes));
    const failure = opensSockets(runtime, entry) ? null : await probeFailure(runtime, entry);
    if (failure !== null) throw unusable(runtime, failure);
    usable = runtime;
    return runtime;
  }

  return { runtime: async () => usable ?? findRuntime(), findRuntime };
}

const bestOf = (runtimes: ListedRuntimes): SandboxRuntime =>
  runtimes['runsc'] === undefined ? 'runc' : 'runsc';

/** gVisor opens sockets of the host only with `--host-uds`; runc always does. */
function opensSockets(runtime: SandboxRuntime, { runtimeArgs }: ListedRuntime): boolean {
  if (runtime === 'runc') return true;
  return /(^| )--?host-uds[= ](open|all)( |$)/.test((runtimeArgs ?? []).join(' '));
}

/** A probe can fail for reasons that pass, such as a machine out of memory. */
const negativeCacheMs = 60_000;

/**
 * A wrapper program or a configuration file of the runtime is not listed by the engine, so only a
 * probe shows its effect. Success is cached for as long as the listing stays the same, failure for
 * a minute. A probe that could not be made is not cached.
 */
function cacheProbes(probe: RuntimeProbes['probe']) {
  let last: { entry: ListedRuntime; failure: Promise<string | null>; until: number } | null = null;
  return (runtime: SandboxRuntime, entry: ListedRuntime): Promise<string | null> => {
    if (last !== null && performance.now() < last.until && isDeepStrictEqual(last.entry, entry))
      return last.failure;
    const current = { entry, failure: probe(runtime), until: Number.POSITIVE_INFINITY };
    last = current;
    current.failure.then(
      (failure) => {
        if (failure !== null) current.until = performance.now() + negativeCacheMs;
      },
      () => {
        if (last === current) last = null;
      },
    );
    return current.failure;
  };
}

function missing(runtime: SandboxRuntime, names: string[]): DockerError {
  const listed = names.length === 0 ? 'none' : names.join(', ');
  return new DockerError(
    'runtime_missing',
    `docker: the engine does not have the runtime ${runtime}, only ${listed}`,
  );
}

function unusable(runtime: SandboxRuntime, failure: string): DockerError {
  return new DockerError(
    'runtime_unusable',
    `docker: the engine lists the runtime ${runtime} without --host-uds=open, and ${failure}`,
  );
}
