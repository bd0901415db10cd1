import { setTimeout as sleep } from 'node:timers/promises';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';
import { type ApiAlone, startApiAlone } from '../support/api-alone.ts';
import { startChild } from '../support/child.ts';
import type { MinimalSetting } from './minimal-route.ts';

const callsASample = 10;
const settleMs = 50;

/** No worker takes the workflows, because the measurement ends with the response. */
export const trigger: Target = {
  id: 'T7',
  title: 'POST to 201, against a minimal route with the same statements',
  unit: 'ms',
  better: 'less',
  goal: 1.3,
  gate: 1.6,
  open,
};

async function open(): Promise<Scenario> {
  const api = await startApiAlone();
  const { service } = api;
  const setting: MinimalSetting = {
    databaseUrl: service.database.url,
    redisUrl: stackEnv.redisUrl,
    temporalAddress: stackEnv.temporalAddress,
    taskQueue: runQueue(service.instance),
  };
  const program = new URL('./minimal-route.ts', import.meta.url);
  const minimal = startChild<never, { url: string }>(program, setting);
  const { url } = await minimal.answer();
  const { flowId } = service;
  return {
    ours: () => callOften(api, `${service.url}/api/v1/flows/${flowId}/runs`),
    limit: () => callOften(api, `${url}/flows/${flowId}/runs`),
    async close() {
      await minimal.stop();
      await api.stop();
    },
  };
}

/** The median of several sequential calls. */
async function callOften(api: ApiAlone, url: string): Promise<Sample> {
  const times: number[] = [];
  while (times.length < callsASample) times.push(await timeCall(url, api.service.key));
  await api.forgetRuns();
  await sleep(settleMs);
  return { value: median(times) };
}

async function timeCall(url: string, key: string): Promise<number> {
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
