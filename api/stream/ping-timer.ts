import { limits } from '../../core/limits.ts';

/** Calls every listener at least every `limits.stream.pingMs`, from one timer for all. */
export interface PingTimer {
  /** The first call is one interval later. Returns the function that ends the calls. */
  add: (listener: () => void) => () => void;
}

export function createPingTimer(): PingTimer {
  /** When each listener is called next, soonest first, because all have the same interval. */
  const dueAt = new Map<() => void, number>();
  let timer: NodeJS.Timeout | null = null;

  /** Calls those that are due soon too: a timer per listener would wake the process for each. */
  function callDue(): void {
    const nowMs = performance.now();
    for (const [listener, at] of dueAt) {
      if (at > nowMs + limits.stream.pingCoalesceMs) break;
      dueAt.delete(listener);
      dueAt.set(listener, nowMs + limits.stream.pingMs);
      listener();
    }
    schedule();
  }

  function schedule(): void {
    const [next] = dueAt.values();
    timer = next === undefined ? null : setTimeout(callDue, next - performance.now());
  }

  return {
    add(listener) {
      dueAt.set(listener, performance.now() + limits.stream.pingMs);
      if (timer === null) schedule();
      return () => {
        dueAt.delete(listener);
        if (dueAt.size > 0 || timer === null) return;
        clearTimeout(timer);
        timer = null;
      };
    },
  };
}
