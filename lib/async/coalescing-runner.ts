export interface CoalescingRunner {
  trigger: () => void;
  close: () => void;
}

interface RunnerOptions {
  step: () => Promise<void>;
  onError: (error: unknown) => void;
}

/**
 * Runs a step when poked, never twice at a time; poked meanwhile, it runs it once more. After an
 * error it rests until the next poke.
 */
export function createCoalescingRunner({ step, onError }: RunnerOptions): CoalescingRunner {
  const now = { isDue: false, isRunning: false, isClosed: false };

  async function run(): Promise<void> {
    now.isRunning = true;
    try {
      while (now.isDue && !now.isClosed) {
        now.isDue = false;
        await step();
      }
    } catch (error) {
      onError(error);
    } finally {
      now.isRunning = false;
    }
  }

  return {
    trigger() {
      now.isDue = true;
      if (!now.isRunning && !now.isClosed) void run();
    },
    close() {
      now.isClosed = true;
    },
  };
}
