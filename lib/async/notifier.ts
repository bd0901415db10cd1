/** Tells one waiter that something may have changed. A notice before the wait is not lost. */
export interface Notifier {
  notify: () => void;
  wait: () => Promise<void>;
}

export function createNotifier(): Notifier {
  let isSet = false;
  let wake: (() => void) | null = null;
  return {
    notify() {
      if (wake === null) isSet = true;
      else wake();
    },
    wait() {
      if (isSet) {
        isSet = false;
        return told;
      }
      return new Promise((resolve) => {
        wake = () => {
          wake = null;
          resolve();
        };
      });
    },
  };
}

const told = Promise.resolve();
