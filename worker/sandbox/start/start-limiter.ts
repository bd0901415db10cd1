// Limits how many sandboxes of this host start at once. A starting agent uses all processors that
// it gets, so further starts at the same time delay each other and the engine. A start acquires a
// permit before its container is created. The permit is released at the agent's first output, at
// the end of the sandbox, if the start fails, and in any case after a few seconds. So the queue
// always advances. A stop bypasses the queue.

import { startLimits } from '../../../core/sandbox/start-limits.ts';
import { createDeferred, type Deferred } from '../../../lib/async/deferred.ts';
import { untilAborted } from '../../../lib/async/until-aborted.ts';

export interface StartLimiter {
  /**
   * Resolves when the sandbox may start. `delayed`: its run may have ended meanwhile. Rejects at
   * the shutdown of this process.
   */
  acquire(start: StartRequest): Promise<Admission>;
  /** Has no effect without a permit. */
  release(key: string): void;
  /** While the work is in progress, a start of this sandbox does not wait and gets no permit. */
  bypass<T>(key: string, work: () => Promise<T>): Promise<T>;
  countWaiting(): number;
}

interface StartRequest {
  key: string;
  /** The sandbox continues a session that had a sandbox before. */
  isWakeUp: boolean;
}

export type Admission = 'immediate' | 'delayed';

export interface StartLimiterDeps {
  cpus: number;
  /**
   * Percent of the last seconds in which a process waited for a processor. Null if it is unknown.
   */
  cpuPressure(): number | null;
  onPermitGranted(waitedMs: number): void;
  /** Aborted at shutdown. */
  closing: AbortSignal;
}

interface WaitingStart {
  key: string;
  since: number;
  /** The queue is in this order. */
  dueAt: number;
  admitted: Deferred<Admission>;
}

export function createStartLimiter(deps: StartLimiterDeps): StartLimiter {
  const permits = new Map<string, NodeJS.Timeout>();
  const queue = createQueue();
  const bypasses = new Set<{ key: string }>();

  /** Admits the next starts while permits are free. */
  function advance(): void {
    for (;;) {
      const next = queue.first();
      if (next === undefined) return;
      const isOverdue = performance.now() - next.since >= startLimits.waitMaxMs;
      if (!isOverdue && permits.size >= permitLimit(deps)) return;
      queue.remove(next);
      grant(next);
    }
  }

  function grant({ key, since, admitted }: WaitingStart): void {
    clearTimeout(permits.get(key));
    permits.set(key, setTimeout(release, startLimits.permitMaxMs, key).unref());
    deps.onPermitGranted(performance.now() - since);
    admitted.resolve('delayed');
  }

  function release(key: string): void {
    clearTimeout(permits.get(key));
    if (permits.delete(key)) advance();
  }

  return {
    async acquire(request) {
      deps.closing.throwIfAborted();
      if ([...bypasses].some(({ key }) => key === request.key)) return 'delayed';
      const start = queue.add(request);
      advance();
      if (!queue.has(start)) return 'immediate';
      try {
        return await untilAborted(start.admitted.promise, deps.closing);
      } finally {
        queue.remove(start);
      }
    },
    release,
    async bypass(key, work) {
      const entry = { key };
      bypasses.add(entry);
      queue.removeAll(key).forEach(({ admitted }) => admitted.resolve('delayed'));
      try {
        return await work();
      } finally {
        bypasses.delete(entry);
      }
    },
    countWaiting: queue.size,
  };
}

function createQueue() {
  let starts: WaitingStart[] = [];
  return {
    first: () => starts[0],
    has: (start: WaitingStart) => starts.includes(start),
    size: () => starts.length,
    add({ key, isWakeUp }: StartRequest): WaitingStart {
      const since = performance.now();
      const dueAt = isWakeUp ? since + startLimits.wakeUpDelayMs : since;
      const start = { key, since, dueAt, admitted: createDeferred<Admission>() };
      starts = [...starts, start].sort((one, other) => one.dueAt - other.dueAt);
      return start;
    },
    remove(start: WaitingStart): void {
      starts = starts.filter((other) => other !== start);
    },
    removeAll(key: string): WaitingStart[] {
      const removed = starts.filter((start) => start.key === key);
      starts = starts.filter((start) => start.key !== key);
      return removed;
    },
  };
}

/** A large host still starts several at once under pressure, because one cannot use it. */
function permitLimit({ cpus, cpuPressure }: StartLimiterDeps): number {
  const { highCpuPressure, cpusPerStartUnderPressure } = startLimits;
  const isBusy = (cpuPressure() ?? 0) >= highCpuPressure;
  return Math.max(1, isBusy ? Math.floor(cpus / cpusPerStartUnderPressure) : cpus);
}
