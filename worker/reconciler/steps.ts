import type { Logger } from 'pino';
import type { JobLease } from './job-lease.ts';
import { withStepDeadline } from './step-deadline.ts';

export type Step = readonly [name: string, work: (signal: AbortSignal) => Promise<void>];

interface StepTaker {
  /** Never rejects. */
  attempt(step: Step, signal: AbortSignal): Promise<void>;
  /**
   * Takes no further step once the signal has aborted, or the job of the steps has another leader.
   */
  take(steps: readonly Step[], signal: AbortSignal, lease?: JobLease): Promise<void>;
}

/** A failed step does not prevent the others. */
export function createStepTaker({ logger }: { logger: Logger }): StepTaker {
  const attempt: StepTaker['attempt'] = ([step, work], signal) =>
    work(signal).catch((err: unknown) => logger.warn({ err, step }, 'reconcile_step_failed'));
  return {
    attempt,
    async take(steps, signal, lease) {
      for (const step of steps) {
        if (signal.aborted || (await lease?.keep()) === false) return;
        const taken = (): Promise<void> => attempt(step, signal);
        await (lease ? withStepDeadline(lease.endMs(), taken) : taken());
      }
    },
  };
}
