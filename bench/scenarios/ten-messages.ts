import { setTimeout as sleep } from 'node:timers/promises';
import { type BareAgent, startBareAgent } from '../limits/bare-agent.ts';
import type { Sample, Scenario } from '../measure/scenario.ts';
import { median, quantile } from '../measure/statistics.ts';
import { startBenchService } from '../service/bench-service.ts';
import { type BenchSession, openSession } from '../service/session.ts';

const agents = 10;
const settleMs = 300;

export const tenMessages: Scenario = {
  id: 'T16',
  targets: [
    {
      id: 'T16',
      title: `${agents} messages at once to the 95 % of first texts, against ${agents} bare stdins`,
      unit: 'ms',
      better: 'less',
      goal: 2,
    },
  ],
  iterations: 12,
  warmUps: 2,
  async open() {
    const service = await startBenchService({ agent: 'real' });
    const sessions: BenchSession[] = [];
    const bare: BareAgent[] = [];
    while (sessions.length < agents) sessions.push(await openSession(service));
    while (bare.length < agents) bare.push((await startBareAgent(service.modelSocket))[0]);
    return {
      ours: () => sayAtOnce(sessions),
      limit: () => sayAtOnce(bare),
      async close() {
        for (const session of sessions) session.close();
        await Promise.all(bare.map((agent) => agent.remove()));
        await service.stop();
      },
    };
  },
};

/** The first messages are not measured: they resume sandboxes that were paused while idle. */
async function sayAtOnce(all: Pick<BareAgent, 'firstText'>[]): Promise<Sample> {
  await Promise.all(all.map((each) => each.firstText()));
  await sleep(settleMs);
  const times = await Promise.all(all.map((each) => each.firstText()));
  await sleep(settleMs);
  return { values: { T16: quantile(times, 0.95) }, also: { p50: median(times) } };
}
