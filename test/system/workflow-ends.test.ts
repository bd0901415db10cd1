// How the workflows of runs and sessions close in Temporal, and that nothing is repeated or counted
// as an error because of it.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../dev/stack/ports.ts';
import type { RunRecord } from '../support/api-client.ts';
import { openConversation } from '../support/conversation.ts';
import { endOf, failureOf } from '../support/end-of-workflow.ts';
import { linesOf } from '../support/log-lines.ts';
import { scrape } from '../support/metrics.ts';
import { script } from '../support/prompts.ts';
import { endSession, untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

const patiently = { timeout: 180_000 };
const working = script([{ say: 'working' }, { hang: true }]);
let service: Service;
let connection: Connection;
let metricsPort: number;

beforeAll(async () => {
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  metricsPort = await freePort();
  service = await startService({ env: { METRICS_TEMPORAL_PORT: String(metricsPort) } });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await connection?.close();
});

const workflowOf = async (runId: string) =>
  new Client({ connection }).workflow.getHandle(await workflowIdOf(service, runId));

const trigger = (prompt: string, key: string) =>
  service.call<RunRecord>('POST', `/flows/${service.flowId}/runs`, {
    body: { prompt },
    headers: { 'idempotency-key': key },
  });

/** The agent ends; its workflow may be started after the answer to the trigger. */
async function endedByItself(prompt: string): Promise<string> {
  const { runId } = await service.trigger({ prompt });
  await service.untilEnded(runId);
  return runId;
}

/** Ends a working agent by a request. */
async function ended(method: string, action = ''): Promise<string> {
  const { runId } = await service.trigger({ prompt: working });
  await untilWorking(service, { runId });
  await service.call(method, `/runs/${runId}${action}`);
  return runId;
}

const failing = script([{ say: 'cut off' }, { exit: 3 }]);

describe('a workflow', patiently, () => {
  it.each([
    ['completes', 'COMPLETED', 'completed', () => endedByItself(script([]))],
    ['fails', 'FAILED', 'exited', () => endedByItself(failing)],
    ['is stopped', 'CANCELLED', 'stopped_by_api', () => ended('POST', '/stop')],
    ['is interrupted', 'CANCELLED', 'interrupted_by_api', () => ended('POST', '/interrupt')],
    ['is deleted', 'CANCELLED', 'deleted_by_api', () => ended('DELETE')],
  ])('of a run that %s is %s', async (_what, status, cause, act) => {
    const handle = await workflowOf(await act());
    expect(await endOf(handle)).toEqual({ status, cause });
    if (status === 'FAILED') expect(await failureOf(handle)).toMatchObject({ type: cause });
  });

  it('of a session that is ended is cancelled', async () => {
    const chat = await openConversation(service);
    await chat.say(script([{ say: 'one' }]));
    const handle = await workflowOf(chat.runId);
    await endSession(service, chat);
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'stopped_by_api' });
  });
});

it('a repeated trigger returns its failed or stopped run and starts none', patiently, async () => {
  const stopped = await trigger(working, 'stopped');
  const failed = await trigger(failing, 'failed');
  await untilWorking(service, stopped.data);
  await service.call('POST', `/runs/${stopped.data.runId}/stop`);
  for (const [key, first] of Object.entries({ stopped, failed })) {
    const { runId } = first.data;
    await service.untilEnded(runId);
    const handle = await workflowOf(runId);
    await failureOf(handle);
    const before = await handle.describe();
    const again = await trigger(script([{ say: 'once more' }]), key);
    expect(again).toMatchObject({ status: 200, data: { runId, error: expect.any(String) } });
    expect((await handle.describe()).runId).toBe(before.runId);
  }
});

it('the worker neither counts nor logs an error because of them', patiently, async () => {
  const samples = await scrape(metricsPort);
  const named = (metric: string) => samples.filter((line) => line.startsWith(`${metric}_total{`));
  expect(named('temporal_workflow_completed')).not.toEqual([]);
  expect(named('temporal_workflow_failed')).toEqual([]);
  const warning = 40;
  const lines = linesOf(service.worker.log());
  const about = lines.filter(({ msg }) => String(msg).startsWith('Workflow failed'));
  expect(about).not.toEqual([]);
  expect(about.filter(({ level }) => Number(level) >= warning)).toEqual([]);
});
