// The queries of docs/temporal-ui.md find the workflows that their table names.

import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { openConversation } from '../support/conversation.ts';
import { pageOf } from '../support/pages.ts';
import { script } from '../support/prompts.ts';
import { untilAsleep, untilWorking } from '../support/run-states.ts';
import { hostIdIn, type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

const patiently = { timeout: 120_000 };
const sessionId = `customer-${randomUUID()}`;
let service: Service;
let connection: Connection;
/** Workflow ids by situation. */
let workflows: Record<string, string>;
let scheduledFlowId: string;

beforeAll(async () => {
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  const idle = { SESSION_IDLE_MS: '1500', SESSION_ATTENDED_IDLE_MS: '1500' };
  service = await startService({ env: { RECONCILE_EVERY_MS: '500', ...idle } });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await connection?.close();
});

const client = () => new Client({ connection });

async function runAtWork(): Promise<string> {
  const { runId } = await service.trigger({ prompt: script([{ say: 'here' }, { hang: true }]) });
  await untilWorking(service, { runId });
  return workflowIdOf(service, runId);
}

async function failedRun(): Promise<string> {
  const { runId } = await service.trigger({ prompt: script([{ say: 'here' }, { exit: 3 }]) });
  return workflowIdOf(service, runId);
}

async function stoppedRun(): Promise<string> {
  const { runId } = await service.trigger({ prompt: script([{ say: 'here' }, { hang: true }]) });
  await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  return workflowIdOf(service, runId);
}

async function terminatedRun(): Promise<string> {
  const workflowId = await runAtWork();
  await client().workflow.getHandle(workflowId).terminate('a test');
  return workflowId;
}

async function sessionAsleep(): Promise<string> {
  const chat = await openConversation(service, { sessionId });
  await chat.say(script([{ say: 'one' }]));
  await untilAsleep(service, chat);
  return workflowIdOf(service, chat.runId);
}

/** At a time that the schedule is backfilled with. */
async function scheduledRun(): Promise<string> {
  const { pool } = service.database;
  const schedule = { cron: '0 4 1 1 *', timezone: 'UTC' };
  const flows = createFlowStore(pool, createSealer(service.encryptionKey));
  const { projectId } = service;
  const flow = { projectId, name: 'Planned', prompt: script([{ say: 'planned' }]), schedule };
  ({ flowId: scheduledFlowId } = await flows.create(flow));
  const handle = client().schedule.getHandle(`flow/${scheduledFlowId}`);
  const trigger = () =>
    handle.trigger().then(
      () => true,
      () => false,
    );
  await expect.poll(trigger, patiently).toBe(true);
  const runs = () =>
    pool.query<{ id: string }>(
      `select workflow_id as id from runs where trigger_type = 'schedule'`,
    );
  await expect.poll(async () => (await runs()).rows.length, patiently).toBe(1);
  return (await runs()).rows[0]?.id ?? '';
}

const section = pageOf('docs/temporal-ui.md').split('## Finding workflows')[1] ?? '';
const examples = [...section.matchAll(/^\| ([a-z].+) \| `(.+)` \|$/gm)].map(
  ([, purpose = '', query = '']) => ({ purpose, query }),
);

/** The workflows of this service that each query must find, and no others. */
const expectedNames: Record<string, string[]> = {
  'active runs of a host': ['live'],
  'active runs of a project': ['live'],
  'sleeping sessions': ['asleep'],
  'one session': ['asleep'],
  'scheduled runs of a flow since Monday': ['scheduled'],
  'runs and sessions of a project that have failed': ['failed'],
  'runs whose agent exited with an error': ['failed'],
  'runs and sessions of a project that were stopped or deleted': ['stopped'],
  'workflows that were terminated by hand': ['terminated'],
};

it('are listed here, each with its expected workflows', { timeout: 400_000 }, async () => {
  workflows = {
    live: await runAtWork(),
    asleep: await sessionAsleep(),
    scheduled: await scheduledRun(),
    failed: await failedRun(),
    stopped: await stoppedRun(),
    terminated: await terminatedRun(),
  };
  expect(examples.map(({ purpose }) => purpose).toSorted()).toEqual(
    Object.keys(expectedNames).toSorted(),
  );
});

it.each(examples)('find $purpose', { timeout: 180_000 }, async ({ purpose, query }) => {
  const expected = expectedNames[purpose]?.map((name) => workflows[name]);
  await expect.poll(() => findOurs(withOwnIds(query)), patiently).toEqual(expected);
});

const withOwnIds = (query: string): string =>
  query
    .replace('host-1a2b3c4d', hostIdIn(service.dataDir))
    .replace('"acme"', `"${service.projectId}"`)
    .replace('customer-42', sessionId)
    .replace('FlowId="…"', `FlowId="${scheduledFlowId}"`);

async function findOurs(query: string): Promise<string[]> {
  const ours = new Set(Object.values(workflows));
  const all: string[] = [];
  for await (const { workflowId } of client().workflow.list({ query })) all.push(workflowId);
  return all.filter((workflowId) => ours.has(workflowId));
}
