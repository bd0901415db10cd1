/** Tells one waiter that something may have changed. A notice before the wait is not lost. */
export interface Signal {
  notify: () => void;
  wait: () => Promise<void>;
}

export function createSignal(): Signal {
  let isSet = false;
  let wake: (() => void) | null = null;
  return {
    notify() {
      isSet = true;
      wake?.();
    },
    async wait() {
      if (!isSet) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = null;
      isSet = false;
    },
  };
}
