import { setTimeout as sleep } from 'node:timers/promises';
import { startBareAgent } from '../limits/bare-agent.ts';
import type { Scenario } from '../measure/scenario.ts';
import { startBenchService, untilNoSandbox } from '../service/bench-service.ts';
import { timeRun } from '../service/time-run.ts';

const settleMs = 300;

export const coldStart: Scenario = {
  id: 'T1',
  targets: [
    {
      id: 'T1',
      title: 'POST to the first text of a new run, against a bare container',
      unit: 'ms',
      better: 'less',
      goal: 1.03,
    },
  ],
  iterations: 15,
  warmUps: 2,
  async open() {
    const service = await startBenchService({ agent: 'real' });
    return {
      async ours() {
        const { firstTextMs, ...also } = await timeRun(service);
        await untilNoSandbox(service);
        return { values: { T1: firstTextMs }, also };
      },
      async limit() {
        const [agent, firstTextMs] = await startBareAgent(service.modelSocket);
        await agent.remove();
        await sleep(settleMs);
        return { values: { T1: firstTextMs } };
      },
      close: () => service.stop(),
    };
  },
};
