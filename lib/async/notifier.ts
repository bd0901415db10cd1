/** Wakes one waiter when something may have changed. A notification before the wait is not lost. */
export interface Notifier {
  notify: () => void;
  wait: () => Promise<void>;
}

export function createNotifier(): Notifier {
  let isNotified = false;
  let wakeUp: (() => void) | null = null;
  return {
    notify() {
      if (wakeUp === null) isNotified = true;
      else wakeUp();
    },
    wait() {
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
    },
  };
}

const resolved = Promise.resolve();
