// Which runtime sandboxes get. It is named in each container's specification, so that an engine whose
// default is another one, or that has lost this one since, refuses instead of taking something else.

import type { RuntimeSetting, SandboxRuntime } from '../../core/sandbox-runtime.ts';
import { DockerError } from './docker-error.ts';

export interface RuntimeChoice {
  /** The one that sandboxes get; found at the first use. */
  runtime(): Promise<SandboxRuntime>;
  /** Asks the engine anew; DockerError `runtime_missing` where it does not have what is wanted. */
  findRuntime(): Promise<SandboxRuntime>;
}

/**
 * What `auto` has once come to stays wanted as long as this process lives: a gVisor that is gone later
 * is missing, it does not become runc.
 */
export function chooseRuntime(
  setting: RuntimeSetting,
  listed: () => Promise<string[]>,
): RuntimeChoice {
  let wanted = setting;
  let known: SandboxRuntime | null = null;

  async function findRuntime(): Promise<SandboxRuntime> {
    const names = await listed();
    const chosen = wanted === 'auto' ? bestOf(names) : wanted;
    wanted = chosen;
    known = null;
    if (!names.includes(chosen)) throw missing(chosen, names);
    known = chosen;
    return chosen;
  }

  return { runtime: async () => known ?? findRuntime(), findRuntime };
}

const bestOf = (names: string[]): SandboxRuntime => (names.includes('runsc') ? 'runsc' : 'runc');

function missing(wanted: SandboxRuntime, names: string[]): DockerError {
  const there = names.length === 0 ? 'none' : names.join(', ');
  return new DockerError(
    'runtime_missing',
    `docker: the engine does not have the runtime ${wanted}, only ${there}`,
  );
}
