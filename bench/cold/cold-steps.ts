import type { Survey } from '../measure/survey.ts';
import { stepTable } from '../report/step-table.ts';
import { openColdService, untilGone } from './cold-service.ts';
import { steps } from './steps.ts';
import { type RunTrace, traceRun } from './trace-run.ts';

const warmUps = 2;

/** Duration of each step of a cold run, from the service's log and stores. */
export const coldSteps: Survey = {
  id: 'steps',
  title: 'a cold run step by step, milliseconds (p50 of all runs)',
  async run({ iterations }) {
    const runs = await stampRuns(iterations);
    return { text: stepTable(steps, runs), data: runs };
  },
};

async function stampRuns(count: number): Promise<RunTrace[]> {
  const { service, close } = await openColdService({ LOG_LEVEL: 'debug' });
  const runs: RunTrace[] = [];
  try {
    while (runs.length < warmUps + count) {
      runs.push(await traceRun(service));
      await untilGone(service);
    }
  } finally {
    await close();
  }
  return runs.slice(warmUps);
}
