// The database is restored to an earlier state, while Temporal, the hosts and the webhook receivers
// have seen later work. No later work is started or reported a second time, even if a client
// repeats its request, and nothing waits forever.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTemporal } from '../../systems/temporal/client.ts';
import type { RunRecord } from '../support/api-client.ts';
import { commandEnv } from '../support/command-env.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { doctorWith, notOk } from '../support/doctor-fixture.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { cliWith } from '../support/run-cli.ts';
import { untilAsleep, untilRemoved, untilWorking } from '../support/run-states.ts';
import { stackEnv } from '../support/stack-env.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { retryUnavailable } from './support/retry-unavailable.ts';

const pollOptions = { timeout: 180_000 };
const backedUp = { say: 'Known.' };
const hangs = script([{ say: 'here' }, { hang: true }]);
const waits = script([{ say: 'here' }, { waitForFile: 'go-on' }, { say: 'Done.' }]);

let fixture: FaultFixture;
/** In the backup: one ended run, and two running ones, one of which ends before the restore. */
let over: RunRecord;
let running: RunRecord;
let endsMeanwhile: RunRecord;
/** In the backup: a session that was asleep, and one in the middle of a turn. */
let asleep: Conversation;
let works: Conversation;
let workedOn: string;
/** After the backup: a running run, an ended run, and a message for the sleeping session. */
let unknown: RunRecord;
let unknownOver: RunRecord;
/** Also after the backup: a session, and one that was opened by its first message. */
let unknownChat: Conversation;
let unknownFirst: { sessionId: string; runId: string };

beforeAll(async () => {
  const idle = { SESSION_IDLE_MS: '2000', SESSION_ATTENDED_IDLE_MS: '2000' };
  fixture = await startFaultFixture({ env: { RECONCILE_EVERY_MS: '1000', ...idle } });
});
afterAll(() => fixture?.stop());

it('is restored after it was stopped in the middle of its work', async () => {
  const flowrun = cliWith(commandEnv(fixture.service));
  const file = join(fixture.service.dataDir, 'backup');
  await beforeBackup();
  await flowrun.json('backup', file, '--without-key');
  await afterBackup();
  const { api, worker } = fixture.service;
  await Promise.all([api.kill('SIGTERM'), worker.kill('SIGTERM')]);
  await flowrun.json('restore', file, '--replace');
  await api.start();
});

async function beforeBackup(): Promise<void> {
  const { service } = fixture;
  over = await begin(script([backedUp]), 'before');
  running = await begin(hangs);
  endsMeanwhile = await begin(waits);
  asleep = await openConversation(service);
  await asleep.say(script([{ write: { path: '/workspace/kept', content: 'kept' } }, backedUp]));
  works = await openConversation(service);
  workedOn = await works.send(script([{ shell: 'echo once >> ran' }, { hang: true }]));
  await untilDelivered(over);
  await untilAsleep(service, asleep);
  for (const run of [running, endsMeanwhile, works]) await untilWorking(service, run);
}

async function afterBackup(): Promise<void> {
  const { service } = fixture;
  releaseAgent(service, endsMeanwhile.runId);
  unknown = await begin(hangs, 'after');
  unknownOver = await begin(script([{ say: 'Unknown.' }]), longKey);
  unknownChat = await openConversation(service, { sessionId: 'after' });
  await unknownChat.say(script([{ say: 'Unknown.' }]));
  unknownFirst = (await firstMessage()).data;
  const turns = async () => (await service.readRun(unknownFirst.runId)).numTurns;
  await expect.poll(turns, pollOptions).toBe(1);
  await asleep.send(script([{ shell: 'echo lost > lost' }, { say: 'Lost.' }, { hang: true }]));
  for (const run of [unknown, asleep]) await untilWorking(service, run);
  for (const run of [endsMeanwhile, unknownOver]) await untilDelivered(run);
}

async function begin(prompt: string, idempotencyKey?: string): Promise<RunRecord> {
  const callbackUrl = `${fixture.receiver.url}/hook`;
  return fixture.service.trigger({
    prompt,
    callbackUrl,
    ...(idempotencyKey && { idempotencyKey }),
  });
}

const longKey = 'long-'.repeat(30);

const firstMessage = () =>
  fixture.service.call<{ sessionId: string; runId: string }>(
    'POST',
    `/flows/${fixture.service.flowId}/chat`,
    { body: { message: script([{ say: 'First.' }]), clientMessageId: 'first' } },
  );

const openAfter = () =>
  fixture.service.call<{ runId: string }>('POST', `/flows/${fixture.service.flowId}/sessions`, {
    body: { sessionId: 'after' },
  });

const postsOf = ({ runId }: RunRecord): { error?: string }[] =>
  fixture.receiver.posts
    .map(({ body }) => JSON.parse(body) as { runId: string; error?: string })
    .filter((body) => body.runId === runId);

const untilDelivered = (run: RunRecord): Promise<void> =>
  expect.poll(() => postsOf(run), pollOptions).toHaveLength(1);

it('rejects repeats of possibly lost requests until it has reconciled, and delays no other request', async () => {
  const { service } = fixture;
  const rejections = [
    await again('after'),
    await again(longKey),
    await openAfter(),
    await firstMessage(),
  ];
  for (const { status, headers } of rejections)
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
  expect((await again('before')).status).toBe(200);
  const fresh = await begin(script([{ say: 'Fresh.' }]));
  const keys = ['after', longKey].flatMap((key) => Array.from({ length: 5 }, () => key));
  const answers = Promise.all(
    keys.map((key) => retryUnavailable(() => again(key), pollOptions.timeout)),
  );
  await service.worker.start();
  const lost = (await answers).map(({ status, data }) => `${status} ${data.runId}`);
  expect(lost.slice(0, 5)).toEqual(Array(5).fill(`200 ${unknown.runId}`));
  expect(lost.slice(5)).toEqual(Array(5).fill(`200 ${unknownOver.runId}`));
  expect(await service.untilEnded(fresh.runId, pollOptions.timeout)).toMatchObject({
    result: 'Fresh.',
  });
});

const again = (idempotencyKey: string) =>
  fixture.service.call<RunRecord>('POST', `/flows/${fixture.service.flowId}/runs`, {
    body: { prompt: script([{ say: 'Again.' }]), idempotencyKey },
  });

it('ends the runs that were running in the backup once, with lost_in_restore, and reports it', async () => {
  const { run } = await fixture.expectInvariants(running.runId, {
    withinMs: pollOptions.timeout,
  });
  expect(run).toMatchObject({ endCause: 'max_reconnects_exceeded' });
  expect(postsOf(running)).toMatchObject([{ error: 'max_reconnects_exceeded' }]);
  expect(fixture.containers.of(running.runId)).toEqual({ created: 1, started: 1, removed: 1 });
});

it('ends the runs that have ended since, and reports no second end', async () => {
  const ended = await fixture.service.untilEnded(endsMeanwhile.runId, pollOptions.timeout);
  expect(ended).toMatchObject({ error: 'max_reconnects_exceeded' });
  const state = async () => (await fixture.service.readRun(endsMeanwhile.runId)).webhook.state;
  await expect.poll(state, pollOptions).toBe('dropped');
  expect(postsOf(endsMeanwhile).map(({ error }) => error)).toEqual([undefined]);
  expect(fixture.containers.of(endsMeanwhile.runId)).toEqual({
    created: 1,
    started: 1,
    removed: 1,
  });
});

it('ends the workflow and the container of every run missing in the backup', async () => {
  const { service } = fixture;
  for (const { runId } of [unknown, unknownOver, unknownChat, unknownFirst]) {
    const run = await service.untilEnded(runId, pollOptions.timeout);
    expect(run).toMatchObject({ error: 'lost_in_restore', status: 'sleep', exitCode: null });
    const events = [];
    for await (const { event, data } of service.stream(runId)) events.push({ event, data });
    expect(events.map(({ event }) => event)).toContain('finished');
    expect(events.at(-1)?.data).toContain('already_ended');
    await untilRemoved(service, { runId });
  }
  const temporal = createTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
    instance: service.instance,
  });
  const open = async () => (await temporal.openWorkflows()).sort();
  const { rows } = await service.database.pool.query<{ id: string }>(
    'select workflow_id as id from runs where session_id is not null and ended_at is null order by 1',
  );
  await expect.poll(open, pollOptions).toEqual(rows.map(({ id }) => id));
  await temporal.close();
  expect(postsOf(unknown)).toEqual([]);
  expect(postsOf(unknownOver)).toHaveLength(1);
});

it('continues a sleeping session with the data of the backup', async () => {
  const chat = await openConversation(fixture.service, { sessionId: asleep.sessionId });
  expect(chat.runId).toBe(asleep.runId);
  const turn = await chat.say(script([{ recall: true }, { shell: 'cat kept; ls' }, backedUp]));
  expect(turn).toMatchObject({ exitCode: 0, texts: [expect.any(String), 'Known.'] });
  expect(turn.texts[0]).toContain('/workspace/kept');
  expect(turn.texts[0]).not.toContain('Lost.');
  expect(chat.events.at(-1)).toMatchObject({ event: expect.not.stringMatching('finished') });
  const shown = chat.named('user').filter(({ data }) => data.includes('tool_result'));
  expect(shown.at(-1)?.data).toMatch(/kept/);
  expect(shown.at(-1)?.data).not.toMatch(/lost/);
  expect(chat.named('turn_end')).toHaveLength(2);
  expect(fixture.containers.of(asleep.runId).created).toBe(3);
});

it('fails the message in progress once, and accepts the next one', async () => {
  const chat = await openConversation(fixture.service, { sessionId: works.sessionId });
  expect(await chat.turn(workedOn)).toMatchObject({ exitCode: 1 });
  expect(await chat.say(script([{ shell: 'ls' }, backedUp]))).toMatchObject({
    exitCode: 0,
    texts: ['Known.'],
  });
  expect(chat.named('turn_end')).toHaveLength(2);
  expect(fixture.containers.of(works.runId).created).toBe(2);
});

it('answers an earlier idempotency key with its run', async () => {
  const replayed = await again('before');
  expect([replayed.status, replayed.data.runId]).toEqual([200, over.runId]);
  expect(await fixture.service.readRun(over.runId)).toMatchObject({
    result: 'Known.',
    exitCode: 0,
  });
  expect(postsOf(over)).toHaveLength(1);
});

it('reopens no later session, and processes none of its messages', async () => {
  expect((await openAfter()).status).toBe(404);
  expect((await firstMessage()).status).toBe(404);
  for (const { runId } of [unknownChat, unknownFirst])
    expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
});

it('leaves no violation, and completes the reconciliation', async () => {
  const pendingRestores = async () => {
    const text = 'select count(*)::int as count from restores where reconciled_at is null';
    return (await fixture.service.database.pool.query<{ count: number }>(text)).rows[0]?.count;
  };
  await expect.poll(pendingRestores, pollOptions).toBe(0);
  const { outcomes } = await doctorWith(commandEnv(fixture.service))();
  expect(notOk(outcomes)).toEqual([]);
});
