import type { Logger } from 'pino';

export type Step = readonly [name: string, work: (signal: AbortSignal) => Promise<void>];

interface StepTaker {
  /** Never rejects. */
  attempt(step: Step, signal: AbortSignal): Promise<void>;
  /** Takes no further step once the signal has aborted, or `mayContinue` is false. */
  take(
    steps: readonly Step[],
    signal: AbortSignal,
    mayContinue?: () => Promise<boolean>,
  ): Promise<void>;
}

/** A failed step does not prevent the others. */
export function createStepTaker({ logger }: { logger: Logger }): StepTaker {
  const attempt: StepTaker['attempt'] = ([step, work], signal) =>
    work(signal).catch((err: unknown) => logger.warn({ err, step }, 'reconcile_step_failed'));
  return {
    attempt,
    async take(steps, signal, mayContinue = async () => true) {
      for (const step of steps) {
        if (signal.aborted || !(await mayContinue())) return;
        await attempt(step, signal);
      }
    },
  };
}
