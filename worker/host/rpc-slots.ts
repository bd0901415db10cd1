// Which calls of the API this host executes at a time. A project may start a call while it holds
// fewer slots than are free. So one project gets half of the slots, a second one half of the rest,
// and only a project that holds none gets the last one. Calls that read the whole working directory
// of a run are paced: one at a time, and for at most half of the time.

import type { HostCallKind } from '../../core/hosts/host-rpc.ts';
import type { HostCall } from '../../systems/postgres/hosts/host-rpc-store.ts';

export interface RpcSlots {
  /** Executes the call, or does nothing if it has to wait. The work must not reject. */
  start(call: HostCall, work: () => Promise<void>): void;
  /** The requests that are being served. */
  served(): string[];
  /** The runs whose paced calls have to wait. */
  pacedRuns(): string[];
  /** Resolves when all calls that were started have ended. */
  drain(): Promise<unknown>;
}

export const pacedKind: HostCallKind = 'store_files';

/** `onFree` is called when a call that had to wait may start. */
export function createRpcSlots(total: number, onFree: () => void): RpcSlots {
  const executing = new Map<HostCall, Promise<void>>();
  const paced = new Set<string>();
  let hasWaiting = false;

  function mayStart({ projectId }: HostCall): boolean {
    const held = [...executing.keys()].filter((other) => other.projectId === projectId).length;
    return held < total - executing.size;
  }

  async function execute(call: HostCall, work: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    if (call.kind === pacedKind) paced.add(call.runId);
    await work();
    executing.delete(call);
    if (call.kind === pacedKind) rest(call.runId, performance.now() - startedAt);
    if (hasWaiting) onFree();
    hasWaiting = false;
  }

  function rest(runId: string, ms: number): void {
    const end = (): void => {
      paced.delete(runId);
      onFree();
    };
    setTimeout(end, ms).unref();
  }

  return {
    start(call, work) {
      if (mayStart(call)) executing.set(call, execute(call, work));
      else hasWaiting = true;
    },
    served: () => [...executing.keys()].flatMap(({ requestIds }) => requestIds),
    pacedRuns: () => [...paced],
    drain: () => Promise.all(executing.values()),
  };
}
