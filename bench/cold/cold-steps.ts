import { quantile } from '../measure/statistics.ts';
import type { Survey } from '../measure/survey.ts';
import { columns } from '../report/table.ts';
import { openColdService, untilGone } from './cold-service.ts';
import { type StampedRun, stampRun } from './stamp-run.ts';
import { type Step, steps } from './steps.ts';

const warmUps = 2;

/** Where the time of a cold run goes, from the moments that the service's own log and stores tell. */
export const coldSteps: Survey = {
  id: 'steps',
  title: 'a cold run step by step, milliseconds (p50 of all runs)',
  async run({ iterations }) {
    const runs = await stampRuns(iterations);
    const rows = steps.map((step) => row(step, runs));
    const head = ['since POST', 'step', 'p90', 'what has happened'];
    return { text: indent(columns([head, ...rows])), data: runs };
  },
};

async function stampRuns(count: number): Promise<StampedRun[]> {
  const { service, close } = await openColdService({ LOG_LEVEL: 'debug' });
  const runs: StampedRun[] = [];
  try {
    while (runs.length < warmUps + count) {
      runs.push(await stampRun(service));
      await untilGone(service);
    }
  } finally {
    await close();
  }
  return runs.slice(warmUps);
}

/** A step's own time runs from the step before it in the same run, so that medians stay honest. */
function row({ name, what }: Step, runs: StampedRun[]): string[] {
  const before = steps[steps.findIndex((step) => step.name === name) - 1];
  const since = runs.map((run) => run[name]);
  const own = runs.map((run) => run[name] - (before === undefined ? 0 : run[before.name]));
  return [...[quantile(since, 0.5), quantile(own, 0.5), quantile(own, 0.9)].map(one), what];
}

const one = (ms: number): string => ms.toFixed(1).padStart(7);

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
