// The whole service with a disabled reconciler: doctor finds unfinished work and fixes it.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../../systems/postgres/admission/seal.ts';
import {
  createEventRequests,
  createEventStore,
} from '../../../systems/postgres/endpoints/event-store.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../systems/postgres/sessions/message-store.ts';
import { createTemporal, type Temporal } from '../../../systems/temporal/client.ts';
import { commandEnv } from '../../support/command-env.ts';
import { openConversation } from '../../support/conversation.ts';
import { createScenario } from '../../support/database-records.ts';
import { type Doctor, doctorWith, notOk } from '../../support/doctor-fixture.ts';
import { addEndpoint } from '../../support/endpoints.ts';
import { script } from '../../support/prompts.ts';
import { endSession, untilWorking } from '../../support/run-states.ts';
import { type Service, startService } from '../../support/service.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import {
  createDockerFixture,
  type DockerFixture,
} from '../systems/docker/support/docker-fixture.ts';

const patiently = { timeout: 300_000 };
let service: Service;
let doctor: Doctor;
let docker: DockerFixture;

beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '3600000' } });
  docker = createDockerFixture();
  // No worker resolves a difference here, so the doctor need not wait long for one.
  doctor = doctorWith({ ...commandEnv(service), RECONCILE_EVERY_MS: '500' });
}, 240_000);
afterAll(async () => {
  await docker?.close();
  await service?.stop();
});

const query = (text: string) => service.database.pool.query(text);
const sealer = () => createSealer(service.encryptionKey);

test('finds no problem in a healthy service', patiently, async () => {
  const { hosts, of } = await untilReported();
  expect(hosts).toBe(1);
  expect(notOk(of)).toEqual([]);
});

/** A host sends its first report shortly after its start. */
async function untilReported() {
  const list = createHostStore(service.database.pool).list;
  await expect.poll(async () => (await list())[0]?.report, { timeout: 60_000 }).toBeTruthy();
  return { hosts: (await list()).length, of: (await doctor()).outcomes };
}

test('starts a run without a workflow', patiently, async () => {
  const scenario = await createScenario(service.database.pool, sealer());
  const { runId } = await scenario.run({ prompt: script([{ say: 'at last' }]) });
  await query(
    `update runs set created_at = created_at - interval '1 minute' where id = '${runId}'`,
  );
  expect((await doctor()).about('run_not_started')).toContain(runId);
  const { of } = await doctor({ fix: true });
  expect(of('runs')).toMatchObject({
    state: 'ok',
    fixed: [`1 run admitted without a workflow: ${runId}.`],
  });
  const result = async () => (await query(`select result from runs where id = '${runId}'`)).rows;
  await expect.poll(result, { timeout: 120_000 }).toEqual([{ result: 'at last' }]);
});

test('ends a run whose workflow was closed, and its container is removed', patiently, async () => {
  const { runId } = await service.trigger({ prompt: script([{ say: 'here' }, { hang: true }]) });
  const own = async () => (await service.sandboxes.list()).filter((one) => one.runId === runId);
  await expect.poll(own, { timeout: 120_000 }).toHaveLength(1);
  const started = async () => (await runStore().find(runId))?.workflowStartedAt;
  await expect.poll(started).toBeInstanceOf(Date);
  await endWorkflow(runId);
  const before = await doctor();
  expect(before.about('workflow_closed')).toContain(runId);
  const { of } = await doctor({ fix: true });
  expect(of('workflows')).toMatchObject({ problems: [], fixed: [expect.stringContaining(runId)] });
  expect(await service.readRun(runId)).toMatchObject({ error: 'terminated_by_operator' });
  expect(of('containers')).toMatchObject({ problems: [] });
  expect(await own()).toEqual([]);
});

async function endWorkflow(runId: string): Promise<void> {
  const { rows } = await query(`select workflow_id as id from runs where id = '${runId}'`);
  const temporal = openTemporal();
  await temporal.terminate(String(rows[0].id), 'a test');
  await temporal.close();
}

const openTemporal = (): Temporal =>
  createTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
    instance: service.instance,
  });

test('delivers a pending webhook, message and stop request', patiently, async () => {
  const receiver = await startReceiver();
  const scenario = await createScenario(service.database.pool, sealer());
  const withWebhook = await scenario.run({ callbackUrl: `${receiver.url}/hook` });
  await runStore().endRun({ ...withWebhook, cause: 'completed', detail: null, exitCode: 0 });
  await query(`update runs set ended_at = ended_at - interval '6 minutes'
               where id = '${withWebhook.runId}'`);
  const chat = await openConversation(service);
  const message = { messageId: randomUUID(), clientMessageId: null, runId: chat.runId };
  const text = script([{ say: 'at last' }]);
  await createMessageStore(service.database.pool).store({ ...message, text });
  await query(`update session_messages set created_at = created_at - interval '1 minute'
               where id = '${message.messageId}'`);
  const works = await service.trigger({ prompt: script([{ say: 'here' }, { hang: true }]) });
  await untilWorking(service, works);
  const started = async () => (await runStore().find(works.runId))?.workflowStartedAt;
  await expect.poll(started).toBeInstanceOf(Date);
  await runStore().recordCause({ ...works, cause: 'stopped_by_api', detail: null });
  await query(`update runs set end_cause_at = end_cause_at - interval '2 minutes'
               where id = '${works.runId}'`);

  const { about } = await doctor();
  expect(about('webhook_pending')).toMatch(new RegExp(`${withWebhook.runId}.*check its log`));
  expect(about('message_not_signalled')).toMatch(new RegExp(`${chat.runId}.*check its log`));
  expect(about('run_not_ending')).toMatch(new RegExp(`${works.runId}.*Check the log.*Temporal UI`));
  await doctor({ fix: true });
  expect(await chat.turn(message.messageId)).toMatchObject({ exitCode: 0, texts: ['at last'] });
  expect(await service.untilEnded(works.runId)).toMatchObject({ error: 'stopped_by_api' });
  await expect.poll(() => receiver.posts).toHaveLength(1);
  expect(receiver.posts[0]?.body).toContain(withWebhook.runId);
  const { of } = await doctor();
  for (const name of ['runs', 'messages', 'webhooks']) expect(of(name).state).toBe('ok');
  await endSession(service, chat);
  await receiver.close();
});

const runStore = () => createRunStore(service.database.pool, sealer());

test('reports but does not fix a run and a workflow that miss each other', patiently, async () => {
  const scenario = await createScenario(service.database.pool, sealer());
  const lost = await scenario.run();
  await runStore().markWorkflowStarted(lost.runId);
  const temporal = openTemporal();
  const workflowId = `run/${randomUUID()}`;
  await temporal.startRun({ ...lost, runId: randomUUID(), workflowId, hostId: 'nowhere' });
  await expect.poll(() => temporal.openWorkflows()).toContain(workflowId);
  const { about, of } = await doctor({ fix: true });
  expect(about('workflow_missing')).toMatch(new RegExp(`${lost.runId}.*TEMPORAL_NAMESPACE`));
  expect(about('workflow_without_run')).toMatch(new RegExp(`${workflowId}.*DATABASE_URL`));
  expect(of('workflows').fixed).toEqual([]);
  expect(await temporal.describe(workflowId)).toBe('running');
  expect(await runStore().find(lost.runId)).toMatchObject({ endedAt: null });
  await temporal.terminate(workflowId, 'a test');
  await temporal.close();
  await runStore().endRun({ ...lost, cause: 'completed', detail: null, exitCode: 0 });
});

test('removes a container of an ended run, but not one of an unknown host', patiently, async () => {
  const scenario = await createScenario(service.database.pool, sealer());
  const { runId } = await scenario.run();
  await query(`update runs set end_cause = 'completed', status = 'sleep', ended_at = db_clock()
               where id = '${runId}'`);
  const [host] = await createHostStore(service.database.pool).list();
  const image = stackEnv.scriptedImage;
  const known = docker.spec({ runId, image, hostId: host?.hostId ?? '' });
  const unknown = docker.spec({ image, hostId: 'host-else' });
  for (const spec of [known, unknown]) await service.sandboxes.ensureCreated(spec);
  expect((await doctor()).about('orphaned_container')).toMatch(
    new RegExp(`${runId}.*start it, or check its log`),
  );
  const { about, of } = await doctor({ fix: true });
  expect(of('containers').fixed).toEqual([`1 container of runs that have ended: ${runId}.`]);
  expect(about('unknown_container')).toMatch(/DATABASE_URL and INSTANCE.*docker rm -f/);
  const left = await service.sandboxes.list();
  expect(left.map((one) => one.runId)).toEqual([unknown.runId]);
  for (const { containerId } of left) await service.sandboxes.remove(containerId);
});

test('starts the delivery of an event for an endpoint', patiently, async () => {
  const { pool } = service.database;
  const { projectId } = service;
  const url = 'https://receiver.invalid/';
  const endpointId = await addEndpoint(pool, { projectId, url, eventTypes: ['run.finished'] });
  const eventId = await createEventRequests(pool).addTest(endpointId, '{}');
  await query(`update webhook_events set start_at = start_at - interval '10 minutes'`);
  expect((await doctor()).about('event_not_started')).toContain(eventId);
  expect((await doctor({ fix: true })).of('events').fixed).toHaveLength(1);
  const attempts = () => createEventStore(pool, sealer()).attempts(eventId);
  await expect.poll(attempts, { timeout: 30_000 }).not.toEqual([]);
  expect((await doctor()).of('events').state).toBe('ok');
});

test('syncs a schedule to Temporal', patiently, async () => {
  const flows = createFlowStore(service.database.pool, sealer());
  const schedule = { cron: '0 4 1 1 *', timezone: 'UTC' };
  const { projectId } = service;
  const { flowId } = await flows.create({ projectId, name: 'Yearly', prompt: 'Go', schedule });
  expect((await doctor()).about('schedule_not_synced')).toContain(flowId);
  expect((await doctor({ fix: true })).of('schedules').fixed).toHaveLength(1);
  expect((await doctor()).of('schedules').state).toBe('ok');
});

test('counts overdue data, and removes it by the retention of the workers', patiently, async () => {
  const scenario = await createScenario(service.database.pool, sealer());
  const run = (await scenario.run({ idempotencyKey: randomUUID() })).runId;
  const ended = `update runs set end_cause = 'completed', status = 'sleep', ended_at = db_clock()`;
  await query(`${ended} - interval '31 days' where id = '${run}'`);
  await query(`insert into blobs (sha256, size, created_at)
               values (sha256('x'), 3145728, db_clock() - interval '25 hours')`);
  const due = (await doctor()).of('retention');
  expect(due.state).toBe('ok');
  expect(due.facts[0]).toBe(
    'due: 0 idempotency keys, 1 logs, 1 files of runs, 0 files of sessions, 0 files of messages, 0 webhook attempts, 0 webhook events, 0 model calls, 0 deleted runs, 1 blobs (3.0 MiB)',
  );
  expect(due.facts[1]).toMatch(/^largest: .*\bruns [\d.]+ MiB/);
  await query(`update runs set ended_at = ended_at - interval '3 days' where id = '${run}'`);
  expect((await doctor()).about('retention_late')).toMatch(/1 logs \(for 4 days\).*every hour/);
  expect((await doctor({ fix: true })).of('retention').fixed).toHaveLength(1);
  expect((await doctor()).of('retention').facts[0]).toMatch(/ 0 logs.* 0 blobs/);
});

test('reports a run without a sandbox, and fixes nothing without a worker', patiently, async () => {
  const { runId } = await service.trigger({ prompt: script([{ say: 'here' }, { hang: true }]) });
  const started = async () => (await service.readRun(runId)).startedAt;
  await expect.poll(started, { timeout: 120_000 }).not.toBeNull();
  await service.worker.kill('SIGKILL');
  for (const { containerId } of await service.sandboxes.list())
    await service.sandboxes.remove(containerId);
  const stillAsked = (await doctor()).of('workers');
  expect(stillAsked).toMatchObject({ state: 'ok' });
  await query(`update hosts set last_seen = last_seen - interval '1 minute'`);
  const { about } = await doctor({ fix: true });
  expect(about('no_worker')).toMatch(/sends heartbeats to Postgres.*Start a worker/);
  expect(about('run_without_container')).toContain(runId);
  expect(about('host_stale')).toContain('Restart its worker with the same DATA_DIR');
  expect(await service.readRun(runId)).toMatchObject({ finishedAt: null });
});
