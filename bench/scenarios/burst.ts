import { setTimeout as sleep } from 'node:timers/promises';
import { startBareAgent } from '../limits/bare-agent.ts';
import type { Sample, Scenario } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';
import { type BenchService, startBenchService, untilNoSandbox } from '../service/bench-service.ts';
import { timeRun } from '../service/time-run.ts';

const runs = 10;
const settleMs = 1_000;

/** The median and the last of the first texts are both reported; the median is judged. */
export const burst: Scenario = {
  id: 'T18',
  targets: [
    {
      id: 'T18',
      title: `${runs} POSTs at once to the median first text, against ${runs} bare containers`,
      unit: 'ms',
      better: 'less',
      goal: 0.6,
    },
  ],
  iterations: 10,
  warmUps: 1,
  async open() {
    const service = await startBenchService({ agent: 'real' });
    return {
      async ours() {
        const times = await timeRuns(service);
        await untilNoSandbox(service);
        return sampleOf(times);
      },
      async limit() {
        const started = await Promise.all(atOnce(() => startBareAgent(service.modelSocket)));
        await Promise.all(started.map(([agent]) => agent.remove()));
        await sleep(settleMs);
        return sampleOf(started.map(([, firstTextMs]) => firstTextMs));
      },
      close: () => service.stop(),
    };
  },
};

const atOnce = <T>(start: () => Promise<T>): Promise<T>[] => Array.from({ length: runs }, start);

async function timeRuns(service: BenchService): Promise<number[]> {
  const times = await Promise.all(atOnce(() => timeRun(service)));
  return times.map(({ firstTextMs }) => firstTextMs);
}

function sampleOf(times: number[]): Sample {
  return { values: { T18: median(times) }, also: { last: Math.max(...times) } };
}
