// What a paused session costs the service: CPU as a share of one core, and memory against leaving
// a bare agent running. API and worker are measured, with the programs that they start, less what
// they use with one paused session. Each session has one open reader.

import { setTimeout as sleep } from 'node:timers/promises';
import { startBareAgent } from '../limits/bare-agent.ts';
import type { OpenScenario, Sample, Scenario } from '../measure/scenario.ts';
import { type BenchService, startBenchService } from '../service/bench-service.ts';
import { cpuMsOf, memoryMibOf } from '../service/process-use.ts';
import { openSession } from '../service/session.ts';

const sessions = 20;
const windowMs = 10_000;
const coreInPercent = 100;
/** A difference of two measurements may be negative, but a cost is not. */
const leastPercent = 0.001;
const leastMib = 0.01;

export const idle: Scenario = {
  id: 'T17',
  targets: [
    {
      id: 'T17-cpu',
      title: `CPU of the service for each of ${sessions} paused sessions, against one core`,
      unit: '% of a core',
      better: 'less',
      goal: 0.0002,
      gateRoomShare: 1, // the slowest machine seen needs 1.7 times the CPU time of the first
    },
    {
      id: 'T17-memory',
      title: `memory of the service for each of ${sessions} paused sessions, against an idle agent`,
      unit: 'MiB',
      better: 'less',
      goal: 0.01,
    },
  ],
  iterations: 6,
  warmUps: 1,
  open,
};

/** Of processes: their CPU as a share of one core, and their memory. */
interface Use {
  percent: number;
  mib: number;
}

/** What each paused session adds to what the service uses with one of them. */
export function costOf(all: Use, one: Use): Sample {
  return {
    values: {
      'T17-cpu': Math.max((all.percent - one.percent) / sessions, leastPercent),
      'T17-memory': Math.max((all.mib - one.mib) / sessions, leastMib),
    },
  };
}

/** The CPU of the agent is stored, but not compared. */
export function limitOf(agent: Use): Sample {
  return {
    values: { 'T17-cpu': coreInPercent, 'T17-memory': agent.mib },
    also: { agentCpu: agent.percent },
  };
}

async function open(): Promise<OpenScenario> {
  const service = await startBenchService({ agent: 'real', env: { HOST_CAPACITY: '30' } });
  const [bare] = await startBareAgent(service.modelSocket);
  const opened = [await openSession(service)];
  await opened[0]?.untilPaused();
  const one = await useOf(pidsOf(service));
  while (opened.length <= sessions) opened.push(await openSession(service));
  for (const session of opened) await session.untilPaused();
  return {
    ours: async () => costOf(await useOf(pidsOf(service)), one),
    limit: async () => limitOf(await useOf([bare.pid])),
    async close() {
      for (const session of opened) session.close();
      await bare.remove();
      await service.stop();
    },
  };
}

const pidsOf = ({ api, worker }: BenchService): number[] => [api.pid(), worker.pid()];

async function useOf(pids: number[]): Promise<Use> {
  const cpuMs = (): number => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = cpuMs();
  const startedAt = performance.now();
  await sleep(windowMs);
  const share = (cpuMs() - before) / (performance.now() - startedAt);
  const mib = pids.reduce((sum, pid) => sum + memoryMibOf(pid), 0);
  return { percent: share * 100, mib };
}
