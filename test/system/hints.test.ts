// A hint is the notification that a message was stored, or that a run was placed on a host. The
// host of an awake session delivers the message at once, while its workflow is still being
// signalled. The host of a run starts the sandbox while the workflow is still being started. A
// hint that is lost, duplicated, late or wrong affects only the delay, as signal and start follow.

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sessionChannel } from '../../core/hosts/host-rpc.ts';
import { freePort } from '../../dev/stack/ports.ts';
import type { Redis } from '../../systems/redis/connect.ts';
import { createNotifications, type Notifications } from '../../systems/redis/notifications.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from '../faults/support/tcp-hold-proxy.ts';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import { linesIn } from '../support/log-lines.ts';
import { measureSlowdown } from '../support/processor-wait.ts';
import { script } from '../support/prompts.ts';
import { openRedis, type RedisFixture } from '../support/redis-fixture.ts';
import { startRedis } from '../support/redis-process.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession, untilAsleep } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

const pauseAfterMs = 1_000;
const pollOptions = { timeout: 30_000 };
/** Loses only the hints among the notifications of the API. */
const withoutHints = ['resetchannels', '&*:run:*', '&*:channel:host:*', '&*:channel:response:*'];

let redisServer: ChildProcess;
let redisClient: RedisFixture;
let redis: Redis;
let notifications: Notifications;
let proxy: TcpHoldProxy;
let connection: Connection;
let service: Service;
beforeAll(async () => {
  const port = await freePort();
  redisServer = await startRedis(port);
  const url = `redis://127.0.0.1:${port}`;
  redisClient = await openRedis(url);
  ({ redis } = redisClient);
  await redis.acl('SETUSER', 'api', 'on', '>secret', '~*', '&*', '+@all');
  proxy = await openTcpHoldProxy(`tcp://${stackEnv.temporalAddress}`);
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  // The reconciler, which would signal the workflow instead, runs once at the start.
  const env = { SESSION_PAUSE_AFTER_MS: String(pauseAfterMs), RECONCILE_EVERY_MS: '600000' };
  service = await startService({ env, on: { redisUrl: url } });
  await service.api.kill('SIGTERM');
  await service.api.start({
    TEMPORAL_ADDRESS: new URL(proxy.url).host,
    REDIS_URL: `redis://api:secret@127.0.0.1:${port}`,
  });
  notifications = createNotifications(redis, { instance: service.instance });
}, 240_000);
afterAll(async () => {
  notifications?.close();
  await service?.stop();
  await connection?.close();
  proxy?.close();
  await redisClient?.close();
  redisServer?.kill('SIGKILL');
});

const saying = (text: string): string => script([{ say: text }]);

async function stateOf({ runId }: Conversation): Promise<string | undefined> {
  return (await service.sandboxes.list()).find((one) => one.runId === runId)?.state;
}
const untilPaused = (chat: Conversation) =>
  expect.poll(() => stateOf(chat), pollOptions).toBe('paused');

const workflowOf = ({ runId }: Conversation): WorkflowHandle =>
  new Client({ connection }).workflow.getHandle(`session/${runId}`);

/** The number of answered requests to the host to stop the sandbox. */
async function answeredStops(chat: Conversation): Promise<number> {
  const events = (await workflowOf(chat).fetchHistory()).events ?? [];
  const isStop = (id: unknown): boolean =>
    events.some(
      ({ eventId, activityTaskScheduledEventAttributes: of }) =>
        String(eventId) === String(id) && of?.activityType?.name === 'stopSandbox',
    );
  return events.filter(({ activityTaskCompletedEventAttributes: of }) =>
    isStop(of?.scheduledEventId),
  ).length;
}

/** The lines that the worker has logged about turns that it began. */
const turnsOf = ({ runId }: Conversation) =>
  linesIn(join(service.dataDir, 'worker.log')).filter(
    ({ msg, runId: of }) => msg === 'turn_started' && of === runId,
  );

/** The signal of the message is held, so only the hint can have begun the turn. */
async function sayBeforeSignal(chat: Conversation, text: string): Promise<string> {
  const ended = chat.named('turn_end').length;
  proxy.hold();
  const sending = chat.send(saying(text));
  await expect.poll(() => chat.named('turn_end').length).toBe(ended + 1);
  await expect.poll(proxy.held).not.toBe('');
  proxy.release();
  return sending;
}

it('delivers a message to an awake or paused session before its workflow is signalled', async () => {
  const chat = await openConversation(service);
  const sent = [(await chat.say(saying('One.'))).messageId];
  sent.push(await sayBeforeSignal(chat, 'Two.'));
  await untilPaused(chat);
  sent.push(await sayBeforeSignal(chat, 'Three.'));
  sent.push((await chat.say(saying('Four.'))).messageId);
  assertExactlyOnce(chat, sent);
  expect(turnsOf(chat).map(({ startedBy }) => startedBy)).toEqual(
    expect.arrayContaining(['hint', 'hint']),
  );
  expect(chat.named('session_ready')).toHaveLength(1);
  await endSession(service, chat);
});

it('does not put a session to sleep in a turn unknown to its workflow', async () => {
  const chat = await openConversation(service);
  await chat.say(saying('One.'));
  proxy.hold();
  const steps = [{ say: 'At work.' }, { waitForFile: '/workspace/go-on' }, { say: 'Done.' }];
  const sending = chat.send(script(steps));
  await chat.until(({ event, data }) => event === 'chat_output' && data.includes('At work.'));
  await workflowOf(chat).signal('sleep');
  await expect.poll(() => answeredStops(chat), pollOptions).toBe(1);
  releaseAgent(service, chat.runId);
  await expect.poll(() => chat.named('turn_end').length, pollOptions).toBe(2);
  proxy.release();
  expect(await chat.turn(await sending)).toMatchObject({
    exitCode: 0,
    texts: ['At work.', 'Done.'],
  });
  await untilAsleep(service, chat);
  expect(chat.named('session_ready')).toHaveLength(1);
  await endSession(service, chat);
});

it('leaves a session paused if its hint announces nothing', async () => {
  const chat = await openConversation(service);
  await chat.say(saying('One.'));
  await untilPaused(chat);
  notifications.notify(sessionChannel(chat.runId));
  await sleep(pauseAfterMs);
  expect(await stateOf(chat)).toBe('paused');
  expect(chat.named('turn_end')).toHaveLength(1);
  await endSession(service, chat);
});

it('pauses again if its workflow was notified of a message that does not exist', async () => {
  const chat = await openConversation(service);
  await chat.say(saying('One.'));
  await untilPaused(chat);
  await workflowOf(chat).signal('message', { messageId: randomUUID() });
  await expect.poll(() => stateOf(chat), { ...pollOptions, interval: 20 }).toBe('running');
  await untilPaused(chat);
  expect(chat.named('turn_end')).toHaveLength(1);
  await endSession(service, chat);
});

it('pauses after a later message that its agent has completed without a result', async () => {
  const chat = await openConversation(service);
  await chat.say(saying('One.'));
  const turn = await chat.say(script([{ say: 'Two.' }, { noResult: true }]));
  expect(turn).toMatchObject({ exitCode: 1, texts: ['Two.'] });
  await untilPaused(chat);
  expect(await chat.say(saying('Three.'))).toMatchObject({ exitCode: 0 });
  await endSession(service, chat);
});

it.each([
  ['all', () => true],
  ['some', (n: number) => (n * 7) % 3 === 0],
])('lets no message wait for a second if %s hints are lost', async (which, isLost) => {
  const chat = await openConversation(service);
  const sent = [(await chat.say(saying('First.'))).messageId];
  const slowdown = measureSlowdown(service.worker.pid());
  for (let n = 0; n < 15; n += 1) {
    await redis.acl('SETUSER', 'api', ...(isLost(n) ? withoutHints : ['allchannels']));
    const sending = chat.send(saying(`Message ${n}.`));
    // Early, late or once more.
    if (!isLost(n) && n % 2 === 0) notifications.notify(sessionChannel(chat.runId));
    sent.push(await sending);
    expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ texts: [`Message ${n}.`] });
  }
  await redis.acl('SETUSER', 'api', 'allchannels');
  assertExactlyOnce(chat, sent);
  const turns = turnsOf(chat).slice(1);
  const waited = turns.map(({ waitedMs }) => Number(waitedMs));
  expect(waited).toHaveLength(15);
  expect(Math.max(...waited)).toBeLessThan(1_000 * slowdown());
  const hinted = turns.filter(({ startedBy }) => startedBy === 'hint');
  // The last look of a turn may find the next message too.
  if (which === 'all') expect(hinted.length).toBeLessThan(turns.length / 2);
  else expect(hinted.length).toBeGreaterThan(0);
  await endSession(service, chat);
});

const startedBy = (runId: string) =>
  linesIn(join(service.dataDir, 'worker.log')).flatMap((line) =>
    line['msg'] === 'sandbox_started' && line['runId'] === runId ? [line['startedBy']] : [],
  );

async function outputOf(runId: string): Promise<string> {
  const text = 'select data from frames where run_id = $1 order by seq';
  const { rows } = await service.database.pool.query<{ data: string }>(text, [runId]);
  return rows.map(({ data }) => data).join('\n');
}

/** Starts a run while the API's calls to Temporal are held, and waits for the agent's words. */
async function startBeforeWorkflow(meanwhile = async () => {}): Promise<string> {
  proxy.hold();
  const { runId } = await service.trigger({ prompt: script([{ say: 'Early.' }, { hang: true }]) });
  await meanwhile();
  await expect.poll(() => outputOf(runId), pollOptions).toContain('Early.');
  return runId;
}

/** The stop starts the workflow if its start was given up meanwhile. */
async function stopAfterHold(runId: string): Promise<void> {
  proxy.release();
  await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  expect(await service.untilEnded(runId)).toMatchObject({ error: 'stopped_by_api' });
  const inits = (await outputOf(runId)).match(/"subtype":"init"/g);
  expect(inits).toHaveLength(1);
}

it('starts a run before its workflow, which then finds and stops its sandbox', async () => {
  const runId = await startBeforeWorkflow();
  const text = 'select from runs where id = $1 and workflow_started_at is null';
  expect((await service.database.pool.query(text, [runId])).rows).toHaveLength(1);
  await stopAfterHold(runId);
  expect(startedBy(runId)).toEqual(['hint']);
});

it('continues a run whose worker dies in its start by a hint, before its workflow', async () => {
  await restartWithFailpoint(service.worker, 'start.running');
  const runId = await startBeforeWorkflow(
    async () => void (await restartAfterFailpoint(service.worker)),
  );
  await stopAfterHold(runId);
});
