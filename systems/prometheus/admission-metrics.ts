import { Counter, type Registry } from 'prom-client';

const runOutcomes = [
  'admitted',
  'replay',
  'RUNNER_OFFLINE',
  'CONCURRENT_LIMIT',
  'MONTHLY_QUOTA',
  'UPSTREAM_UNAVAILABLE',
];
const messageOutcomes = ['stored', 'known', 'QUEUE_FULL', 'RUNNER_OFFLINE', 'CONCURRENT_LIMIT'];

/** What became of what was asked for: taken, taken before, or refused by one of the caps. */
export function createAdmissionMetrics(registry: Registry) {
  const runs = outcomes(registry, {
    name: 'flowrun_admissions_total',
    help: 'Runs that were asked for, by what was decided.',
    known: runOutcomes,
  });
  const messages = outcomes(registry, {
    name: 'flowrun_messages_total',
    help: 'Messages to sessions, by what was decided.',
    known: messageOutcomes,
  });
  return {
    runDecided: (outcome: string): void => runs.inc({ outcome }),
    messageDecided: (outcome: string): void => messages.inc({ outcome }),
  };
}

function outcomes(
  registry: Registry,
  { name, help, known }: { name: string; help: string; known: readonly string[] },
): Counter<'outcome'> {
  const counter = new Counter({ name, help, labelNames: ['outcome'], registers: [registry] });
  for (const outcome of known) counter.inc({ outcome }, 0);
  return counter;
}
