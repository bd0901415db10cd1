import { setTimeout as sleep } from 'node:timers/promises';
import { startLimits } from '../limits/limits.ts';
import type { OpenScenario, Sample, Scenario } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';
import { type BenchService, startBenchService } from '../service/bench-service.ts';
import { admitOnly } from '../service/open-runs.ts';

const sequentialCalls = 10;
const concurrency = 32;
const concurrentCalls = 64;
const settleMs = 100;

/** The measurement ends with the response, so no worker runs. Stored runs accumulate. */
export const trigger: Scenario = {
  id: 'T7',
  targets: [
    {
      id: 'T7',
      title: 'POST to 201, against a route with one INSERT',
      unit: 'ms',
      better: 'less',
      goal: 2,
    },
    {
      id: 'T7-32',
      title: 'the same with 32 requests at a time',
      unit: 'ms',
      better: 'less',
      goal: 2,
    },
  ],
  iterations: 15,
  warmUps: 2,
  open,
};

async function open(): Promise<OpenScenario> {
  const service = await startBenchService();
  const runs = await admitOnly(service);
  const limits = await startLimits(service);
  const { flowId } = service;
  return {
    async ours() {
      const sample = await callOften(`${service.url}/api/v1/flows/${flowId}/runs`, service);
      await runs.end();
      await sleep(settleMs);
      return sample;
    },
    limit: () => callOften(limits.insertUrl, service),
    async close() {
      await limits.close();
      await runs.stop();
      await service.stop();
    },
  };
}

async function callOften(url: string, service: BenchService): Promise<Sample> {
  const alone: number[] = [];
  while (alone.length < sequentialCalls) alone.push(await timeCall(url, service));
  await sleep(settleMs);
  const together: number[] = [];
  const startedAt = performance.now();
  const call = async (): Promise<void> => {
    while (together.length < concurrentCalls) together.push(await timeCall(url, service));
  };
  await Promise.all(Array.from({ length: concurrency }, call));
  const callsPerSecond = (together.length * 1_000) / (performance.now() - startedAt);
  await sleep(settleMs);
  return { values: { T7: median(alone), 'T7-32': median(together) }, also: { callsPerSecond } };
}

async function timeCall(url: string, { key }: BenchService): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Say hello.' }),
  });
  await response.arrayBuffer();
  if (response.status !== 201) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - startedAt;
}
