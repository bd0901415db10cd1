import { type BareAgent, startBareAgent } from '../limits/bare-agent.ts';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { type BenchService, startBenchService } from '../service/bench-service.ts';
import { type BenchSession, openSession } from '../service/session.ts';

/** How long the model takes. */
const delaysMs = [0, 100, 800];
const goals = [1.25, 1.1, 1.015];

const targets = delaysMs.map((delayMs, index): Target => {
  return {
    id: `T5-${delayMs}`,
    title: `chat POST to the first text, model ${delayMs} ms, against stdin of a bare container`,
    unit: 'ms',
    better: 'less',
    goal: goals[index] ?? Number.NaN,
  };
});

export const turn: Scenario = {
  id: 'T5',
  targets,
  iterations: 15,
  warmUps: 2,
  async open() {
    const service = await startBenchService({ agent: 'real' });
    const { session, agent } = await openBoth(service);
    return {
      ours: () => measure((delayMs) => session.firstText(delayMs)),
      limit: () => measure((delayMs) => agent.firstText(delayMs)),
      async close() {
        session.close();
        await agent.remove();
        await service.stop();
      },
    };
  },
};

async function openBoth(
  service: BenchService,
): Promise<{ session: BenchSession; agent: BareAgent }> {
  const session = await openSession(service);
  const [agent] = await startBareAgent(service.modelSocket);
  return { session, agent };
}

/** The first message is not measured: it resumes a sandbox that was paused while it was idle. */
async function measure(firstText: (delayMs?: number) => Promise<number>): Promise<Sample> {
  await firstText();
  const values: Record<string, number> = {};
  for (const delayMs of delaysMs) values[`T5-${delayMs}`] = await firstText(delayMs);
  return { values };
}
