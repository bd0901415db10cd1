import { Counter, Histogram, type Registry } from 'prom-client';
import { endCauses } from '../../core/runs/end-cause.ts';
import { runSeconds, waitSeconds } from './buckets.ts';

/** The lives of runs and messages, each told by the process that brought it about. */
export function createRunMetrics(registry: Registry) {
  const registers = [registry];
  const waits = new Histogram({
    name: 'flowrun_run_wait_seconds',
    help: 'From the admission of a run to the start of its agent.',
    buckets: waitSeconds,
    registers,
  });
  const durations = new Histogram({
    name: 'flowrun_run_duration_seconds',
    help: 'From the start of a run to its end.',
    buckets: runSeconds,
    registers,
  });
  const ends = new Counter({
    name: 'flowrun_runs_ended_total',
    help: 'Runs and sessions that have ended, by cause.',
    labelNames: ['cause'],
    registers,
  });
  for (const cause of endCauses) ends.inc({ cause }, 0);
  const messages = new Histogram({
    name: 'flowrun_message_wait_seconds',
    help: 'From the arrival of a message to the moment that its agent was given it.',
    buckets: waitSeconds,
    registers,
  });

  return {
    runStarted: (waitedMs: number): void => waits.observe(waitedMs / 1_000),
    runEnded(cause: string, ranMs: number | null): void {
      ends.inc({ cause });
      if (ranMs !== null) durations.observe(ranMs / 1_000);
    },
    turnStarted: (waitedMs: number): void => messages.observe(waitedMs / 1_000),
  };
}
