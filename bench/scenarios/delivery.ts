// The two halves of a turn around the agent. The scripted agent tells on the machine's monotonic
// clock when it read a message, said a text and printed its result.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Limits, startLimits } from '../limits/limits.ts';
import type { Sample, Scenario } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';
import { startBenchService } from '../service/bench-service.ts';
import { type BenchSession, openSession } from '../service/session.ts';
import { isEvent } from '../service/stream.ts';

const turnsASample = 4;
const settleMs = 100;
// Each step is measured separately from the remaining work of the previous step. T5 measures a turn
// whose steps overlap.
const prompt = '@agent [{"sleepMs":150},{"clock":true},{"sleepMs":100},{"clockResult":true}]';

export const delivery: Scenario = {
  id: 'delivery',
  targets: [
    {
      id: 'T5-input',
      title:
        "chat POST to the agent's stdin, against HTTP, two commits, PUBLISH and a socket write",
      unit: 'ms',
      better: 'less',
      goal: 1.5,
    },
    {
      id: 'T10',
      title: "an agent's text to the reader, against one commit and PUBLISH",
      unit: 'ms',
      better: 'less',
      goal: 2,
    },
    {
      id: 'T15',
      title: "an agent's result to turn_end at the reader, against one commit and PUBLISH",
      unit: 'ms',
      better: 'less',
      goal: 2,
    },
  ],
  iterations: 15,
  warmUps: 2,
  runcOnly: 'gVisor has its own monotonic clock',
  async open() {
    const service = await startBenchService();
    const session = await openSession(service, prompt);
    const limits = await startLimits(service);
    return {
      async ours() {
        await session.say(prompt); // resumes a sandbox that was paused while it was idle
        return medianOf(() => timeTurn(session));
      },
      limit: () => medianOf(() => timeLimits(limits)),
      async close() {
        session.close();
        await limits.close();
        await service.stop();
      },
    };
  },
};

async function timeTurn({ say, stream }: BenchSession): Promise<Record<string, number>> {
  const { postedAt, from, endedAt } = await say(prompt);
  const text = await stream.until((event) => isEvent(event, 'chat_output'), from);
  const result = await stream.until((event) => isEvent(event, 'result'), from);
  return {
    'T5-input': clockIn(text.text, 'receivedAt') - postedAt,
    T10: text.at - clockIn(text.text, 'saidAt'),
    T15: endedAt - clockIn(result.text, 'printedAt'),
  };
}

/** A time that the agent told, in JSON within JSON. */
function clockIn(event: string, name: string): number {
  return Number(new RegExp(`${name}\\\\*":([\\d.]+)`).exec(event)?.[1] ?? Number.NaN);
}

async function timeLimits({ deliver, publish }: Limits): Promise<Record<string, number>> {
  const input = await deliver({ message: prompt });
  await sleep(settleMs);
  const published = await publish();
  await sleep(settleMs);
  return { 'T5-input': input, T10: published, T15: published };
}

async function medianOf(time: () => Promise<Record<string, number>>): Promise<Sample> {
  const taken: Record<string, number>[] = [];
  while (taken.length < turnsASample) taken.push(await time());
  const names = Object.keys(taken[0] ?? {});
  const values = names.map((name) => [name, median(taken.map((one) => one[name] ?? Number.NaN))]);
  return { values: Object.fromEntries(values) as Record<string, number> }; // names and numbers
}
