interface CoalescingRunner {
  trigger: () => void;
  close: () => void;
}

interface RunnerOptions {
  step: () => Promise<void>;
  onError: (error: unknown) => void;
}

/**
 * Runs a step when triggered, never twice at a time. Triggers during a step cause one more step.
 * After an error it waits for the next trigger.
 */
export function createCoalescingRunner({ step, onError }: RunnerOptions): CoalescingRunner {
  const state = { isTriggered: false, isRunning: false, isClosed: false };

  async function run(): Promise<void> {
    state.isRunning = true;
    try {
      while (state.isTriggered && !state.isClosed) {
        state.isTriggered = false;
        await step();
      }
    } catch (error) {
      onError(error);
    } finally {
      state.isRunning = false;
    }
  }

  return {
    trigger() {
      state.isTriggered = true;
      if (!state.isRunning && !state.isClosed) void run();
    },
    close() {
      state.isClosed = true;
    },
  };
}
