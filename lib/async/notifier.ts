import { sleep } from './sleep.ts';

/** Wakes one waiter when something may have changed. A notification before the wait is not lost. */
export interface Notifier {
  notify: () => void;
  /** A caller waits now. */
  isWaiting: () => boolean;
  wait: () => Promise<void>;
  /** Also resolves after the time, or when one of the signals aborts. */
  waitAtMost: (ms: number, ...signals: AbortSignal[]) => Promise<void>;
}

export function createNotifier(): Notifier {
  let isNotified = false;
  let wakeUp: (() => void) | null = null;

  function waitUntilNotified(): Promise<void> {
    if (isNotified) {
      isNotified = false;
      return resolved;
    }
    return new Promise((resolve) => {
      wakeUp = () => {
        wakeUp = null;
        resolve();
      };
    });
  }

  return {
    notify() {
      if (wakeUp === null) isNotified = true;
      else wakeUp();
    },
    isWaiting: () => wakeUp !== null,
    wait: waitUntilNotified,
    async waitAtMost(ms, ...signals) {
      const notified = new AbortController();
      void waitUntilNotified().then(() => notified.abort());
      await sleep(ms, notified.signal, ...signals);
      wakeUp = null;
    },
  };
}

const resolved = Promise.resolve();
