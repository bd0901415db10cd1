// The database comes back as it was some time ago, and Temporal, the hosts and the receivers of webhooks
// know of a time that it does not. Nothing of that time is begun or told a second time, and nothing
// waits for ever.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTemporal } from '../../systems/temporal/client.ts';
import { doctorWith } from '../cli/doctor-world.ts';
import { cliWith } from '../cli/run-cli.ts';
import { script } from '../scripted-agent/lines.ts';
import type { RunRecord } from '../support/api-client.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { letGoOn } from '../support/let-go-on.ts';
import { untilAsleep, untilRemoved, untilWorking } from '../support/run-ways.ts';
import { stackEnv } from '../support/stack-env.ts';
import { startWorld, type World } from './support/world.ts';

const patience = { timeout: 180_000 };
const backedUp = { say: 'Known.' };
const hangs = script([{ say: 'here' }, { hang: true }]);
const waits = script([{ say: 'here' }, { waitForFile: 'go-on' }, { say: 'Done.' }]);

let world: World;
/** In the backup: one that had ended, and two that were going on, of which one ends before the restore. */
let over: RunRecord;
let goesOn: RunRecord;
let endsMeanwhile: RunRecord;
/** In the backup: a session that was asleep, and one in the middle of a turn. */
let asleep: Conversation;
let works: Conversation;
let workedOn: string;
/** After the backup: one that goes on, one that has ended, and a message for the one that was asleep. */
let unknown: RunRecord;
let unknownOver: RunRecord;

beforeAll(async () => {
  const idle = { SESSION_IDLE_MS: '2000', SESSION_ATTENDED_IDLE_MS: '2000' };
  world = await startWorld({ env: { RECONCILE_EVERY_MS: '1000', ...idle } });
});
afterAll(() => world?.stop());

function commandEnv(): Record<string, string> {
  const { service } = world;
  return {
    INSTANCE: service.instance,
    DATABASE_URL: service.database.url,
    ENCRYPTION_KEY: service.encryptionKey.toString('base64'),
    REDIS_URL: stackEnv.redisUrl,
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    DOCKER_HOST: stackEnv.dockerHost,
    SANDBOX_IMAGE: stackEnv.scriptedImage,
    DATA_DIR: service.dataDir,
    PUBLIC_URL: service.url,
  };
}

it('is restored, stopped in the middle of what it did', async () => {
  const flowrun = cliWith(commandEnv());
  const file = join(world.service.dataDir, 'backup');
  await beforeBackup();
  await flowrun.json('backup', file, '--without-key');
  await afterBackup();
  const { api, worker } = world.service;
  await Promise.all([api.kill('SIGTERM'), worker.kill('SIGTERM')]);
  await flowrun.json('restore', file, '--replace');
  await Promise.all([api.start(), worker.start()]);
});

async function beforeBackup(): Promise<void> {
  const { service } = world;
  over = await begin(script([backedUp]), 'before');
  goesOn = await begin(hangs);
  endsMeanwhile = await begin(waits);
  asleep = await openConversation(service);
  await asleep.say(script([{ write: { path: '/workspace/kept', content: 'kept' } }, backedUp]));
  works = await openConversation(service);
  workedOn = await works.send(script([{ shell: 'echo once >> ran' }, { hang: true }]));
  await untilTold(over);
  await untilAsleep(service, asleep);
  for (const run of [goesOn, endsMeanwhile, works]) await untilWorking(service, run);
}

async function afterBackup(): Promise<void> {
  const { service } = world;
  letGoOn(service, endsMeanwhile.runId);
  unknown = await begin(hangs, 'after');
  unknownOver = await begin(script([{ say: 'Unknown.' }]));
  await asleep.send(script([{ shell: 'echo lost > lost' }, { say: 'Lost.' }, { hang: true }]));
  for (const run of [unknown, asleep]) await untilWorking(service, run);
  for (const run of [endsMeanwhile, unknownOver]) await untilTold(run);
}

async function begin(prompt: string, idempotencyKey?: string): Promise<RunRecord> {
  const callbackUrl = `${world.receiver.url}/hook`;
  return world.service.trigger({ prompt, callbackUrl, ...(idempotencyKey && { idempotencyKey }) });
}

const postsOf = ({ runId }: RunRecord): { error?: string }[] =>
  world.receiver.posts
    .map(({ body }) => JSON.parse(body) as { runId: string; error?: string })
    .filter((body) => body.runId === runId);

const untilTold = (run: RunRecord): Promise<void> =>
  expect.poll(() => postsOf(run), patience).toHaveLength(1);

it('ends what was going on in the backup by its name, once, and tells it', async () => {
  const { run } = await world.expectInvariants(goesOn.runId, { withinMs: patience.timeout });
  expect(run).toMatchObject({ endCause: 'max_reconnects_exceeded' });
  expect(postsOf(goesOn)).toMatchObject([{ error: 'max_reconnects_exceeded' }]);
  expect(world.containers.of(goesOn.runId)).toEqual({ created: 1, started: 1, removed: 1 });
});

it('ends what has ended since, and tells nobody another end of it', async () => {
  const ended = await world.service.untilEnded(endsMeanwhile.runId, patience.timeout);
  expect(ended).toMatchObject({ error: 'max_reconnects_exceeded' });
  const state = async () => (await world.service.readRun(endsMeanwhile.runId)).webhook.state;
  await expect.poll(state, patience).toBe('dropped');
  expect(postsOf(endsMeanwhile).map(({ error }) => error)).toEqual([undefined]);
  expect(world.containers.of(endsMeanwhile.runId)).toEqual({ created: 1, started: 1, removed: 1 });
});

it('answers a key of before with its run, and knows nothing of one of after', async () => {
  const { service } = world;
  const replayed = await again('before');
  expect([replayed.status, replayed.data.runId]).toEqual([200, over.runId]);
  expect(await service.readRun(over.runId)).toMatchObject({ result: 'Known.', exitCode: 0 });
  const another = await again('after');
  expect(another.status).toBe(201);
  expect(another.data.runId).not.toBe(unknown.runId);
  expect(await service.untilEnded(another.data.runId, patience.timeout)).toMatchObject({
    result: 'Again.',
  });
  expect(postsOf(over)).toHaveLength(1);
});

const again = (idempotencyKey: string) =>
  world.service.call<RunRecord>('POST', `/flows/${world.service.flowId}/runs`, {
    body: { prompt: script([{ say: 'Again.' }]), idempotencyKey },
  });

it('ends the workflow and the container of what the backup does not know', async () => {
  const { service } = world;
  for (const { runId } of [unknown, unknownOver])
    expect((await service.call('GET', `/runs/${runId}`)).status).toBe(404);
  await untilRemoved(service, unknown);
  const temporal = createTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
    instance: service.instance,
  });
  const open = async () => (await temporal.openWorkflows()).sort();
  const { rows } = await service.database.pool.query<{ id: string }>(
    'select workflow_id as id from runs where session_id is not null order by 1',
  );
  await expect.poll(open, patience).toEqual(rows.map(({ id }) => id));
  await temporal.close();
  expect(postsOf(unknown)).toEqual([]);
  expect(postsOf(unknownOver)).toHaveLength(1);
});

it('lets a session that was asleep go on with what is in the backup', async () => {
  const chat = await openConversation(world.service, { sessionId: asleep.sessionId });
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
  expect(world.containers.of(asleep.runId).created).toBe(3);
});

it('fails a message that was worked on, once, and takes the next one', async () => {
  const chat = await openConversation(world.service, { sessionId: works.sessionId });
  expect(await chat.turn(workedOn)).toMatchObject({ exitCode: 1 });
  expect(await chat.say(script([{ shell: 'ls' }, backedUp]))).toMatchObject({
    exitCode: 0,
    texts: ['Known.'],
  });
  expect(chat.named('turn_end')).toHaveLength(2);
  expect(world.containers.of(works.runId).created).toBe(2);
});

it('leaves nothing that is wrong, and has done with it', async () => {
  const unsettled = async () => {
    const text = 'select count(*)::int as count from restorations where settled_at is null';
    return (await world.service.database.pool.query<{ count: number }>(text)).rows[0]?.count;
  };
  await expect.poll(unsettled, patience).toBe(0);
  const { outcomes } = await doctorWith(commandEnv())();
  expect(outcomes.filter(({ state }) => state !== 'ok')).toEqual([]);
});
