// A project whose storage quota or monthly budget is used up while its agents work.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BudgetOwner } from '../../core/metering/monthly-budget.ts';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore } from '../../systems/postgres/accounts/key-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createApiClient } from '../support/api-client.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { addEndpoint, removeEndpoint } from '../support/endpoints.ts';
import { messageBytesInPostgres } from '../support/message-bytes.ts';
import { modelScript, script } from '../support/prompts.ts';
import { endSession, untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const longMs = 600_000;

let service: Service;
let receiver: WebhookReceiver;
beforeAll(async () => {
  const env = { SESSION_PAUSE_AFTER_MS: String(longMs) };
  [service, receiver] = await Promise.all([startService({ env }), startReceiver()]);
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const patiently = { timeout: 120_000 };
const miB = 1024 ** 2;

async function setQuota(storageQuotaBytes: number | null): Promise<void> {
  const text = 'update projects set storage_quota_bytes = $1';
  await service.database.pool.query(text, [storageQuotaBytes]);
}

async function storedBytes(): Promise<number> {
  const text = `select coalesce(sum(bytes), 0)::float8 as bytes from (
    select bytes from stored_bytes union all select bytes from stored_bytes_changes) s`;
  return (await service.database.pool.query<{ bytes: number }>(text)).rows[0]?.bytes ?? 0;
}

/** All that is in Postgres, without the ledger. */
async function bytesInPostgres(): Promise<number> {
  const text = `select (select coalesce(sum(length(data)), 0) from blob_chunks)::float8
                     + (select coalesce(sum(octet_length(data)), 0) from frames)::float8
                       as bytes`;
  const { rows } = await service.database.pool.query<{ bytes: number }>(text);
  const messages = await messageBytesInPostgres(service.database.pool, service.projectId);
  return (rows[0]?.bytes ?? 0) + messages;
}

describe('a project at its storage quota', patiently, () => {
  it('has its working agents ended as disk_full, with all of their frames', async () => {
    const idle = await openConversation(service);
    await idle.say(script([{ shell: 'head -c 100K /dev/urandom > file' }]));
    const flood = 'for i in $(seq 1 3000); do echo line-$i; done';
    const prompt = script([{ shell: flood }, { say: 'last words' }, { sleepMs: longMs }]);
    const run = await service.trigger({ prompt });
    const chat = await openConversation(service);
    const messageId = await chat.send(script([{ say: 'begun' }, { sleepMs: longMs }]));
    await untilWorking(service, run);
    await untilWorking(service, chat);
    await expect
      .poll(async () => JSON.stringify(await framesOf(run.runId)))
      .toContain('last words');
    await setQuota(1);
    const ended = await service.untilEnded(run.runId);
    expect(ended).toMatchObject({ error: expect.stringContaining('disk_full') });
    expect(await chat.turn(messageId)).toMatchObject({ exitCode: 1 });
    await chat.closed;
    expect((await service.readRun(chat.runId)).error).toContain('disk_full');
    const seqs = (await framesOf(run.runId)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));

    // An idle session stores nothing. It continues once there is room.
    expect((await service.readRun(idle.runId)).error).toBeUndefined();
    const body = { message: 'Hi', sessionId: idle.sessionId };
    const path = `/flows/${service.flowId}/chat`;
    expect((await service.call('POST', path, { body })).status).toBe(400);
    await setQuota(null);
    expect((await idle.say(script([{ say: 'again' }]))).texts).toEqual(['again']);
  });

  it('has a session ended whose agent works without a message', async () => {
    await setQuota(null);
    const later = (sleepMs: number, steps: object[]) =>
      script([{ background: { sleepMs, steps } }, { say: 'begun' }]);
    const task = await openConversation(service);
    await task.say(later(longMs, []));
    const unprompted = await openConversation(service);
    await unprompted.say(later(1_000, [{ sleepMs: longMs }]));
    await untilWorking(service, unprompted);
    await setQuota(1);
    for (const { runId } of [task, unprompted])
      expect((await service.untilEnded(runId)).error).toContain('disk_full');
    await Promise.all([task.closed, unprompted.closed]);
  });

  it('stores no more than one further content for many downloads of a file that changes', async () => {
    await setQuota(null);
    const chat = await openChanging('4M');
    const before = await storedBytes();
    const limit = before + 8 * miB;
    await setQuota(limit);
    const download = () => service.call('GET', `/runs/${chat.runId}/files/f`);
    const answers: { status: number; body: unknown }[] = [];
    while (!answers.some(({ status }) => status === 400) && answers.length < 200)
      answers.push(...(await Promise.all([1, 2, 3, 4].map(download))));
    const rejected = answers.find(({ status }) => status === 400);
    expect(rejected?.body).toMatchObject({ error: { code: 'VALIDATION_ERROR', limit } });
    expect(await storedBytes()).toBeLessThan(limit + 5 * miB);
    await endSession(service, chat);
  });

  it('stores nothing further when the files of a session are listed', async () => {
    await setQuota(null);
    const chat = await openChanging('1M');
    await setQuota(1);
    const before = await storedBytes();
    for (let count = 0; count < 5; count += 1) expect(await pathsOf(chat)).toContain('f');
    expect(await storedBytes()).toBeLessThan(before + miB);
    await endSession(service, chat);
  });

  it('has everything counted that its runs have stored', async () => {
    await setQuota(null);
    const chat = await openConversation(service);
    await chat.say(script([{ say: 'x'.repeat(50_000) }]));
    await endSession(service, chat);
    const structured = { result: 'y', structured_output: { text: 'z'.repeat(50_000) } };
    const prompt = script([{ result: structured }]);
    const callbackUrl = 'https://receiver.invalid/';
    const { runId } = await service.trigger({ prompt, callbackUrl });
    await service.untilEnded(runId);
    expect(await storedBytes()).toBe(await bytesInPostgres());
    const unowned = 'select from blobs where project_id is null';
    expect((await service.database.pool.query(unowned)).rowCount).toBe(0);
  });
});

/** A client with a new flow and a new key, where `owner` has a budget that is large at first. */
async function budgeted(owner: BudgetOwner) {
  const { projectId, url, encryptionKey } = service;
  const { pool } = service.database;
  const flows = createFlowStore(pool, createSealer(encryptionKey));
  const { flowId } = await flows.create({ projectId, name: 'Limited' });
  const made = { projectId, name: 'limited', createdBy: 'ana', rateLimitRpm: 10_000 };
  const { key, record } = await createKeyStore(pool).create(made);
  const [table, id] = {
    project: ['projects', projectId],
    flow: ['flows', flowId],
    key: ['api_keys', record.keyId],
  }[owner] as [string, string];
  const setBudget = (usd: number | null) =>
    pool.query(`update ${table} set monthly_budget_usd = $1 where id::text = $2`, [usd, id]);
  await setBudget(1_000);
  /** Leaves a budget that the next call reaches, and returns it. */
  async function leaveOneCall(): Promise<number> {
    const { rows } = await pool.query<{ current: number }>(
      'select current from monthly_budgets($1, $2, $3) where owner = $4',
      [projectId, flowId, record.keyId, owner],
    );
    const limit = (rows[0]?.current ?? 0) + 1e-6;
    await setBudget(limit);
    return limit;
  }
  return { client: { ...createApiClient({ url, key, flowId }), flowId }, setBudget, leaveOneCall };
}

const calls = { repeat: 20, steps: [{ callModel: modelScript([{ text: 'Paid.' }]) }] };
const free = { type: 'result', subtype: 'success', is_error: false, total_cost_usd: 0 };

async function callsOf({ runId }: { runId: string }): Promise<number | null> {
  const text = 'select from model_calls where run_id = $1';
  return (await service.database.pool.query(text, [runId])).rowCount;
}

describe.each(['project', 'flow', 'key'] as const)(
  'the monthly budget of a %s',
  patiently,
  (owner) => {
    it('ends a run before its next model call although the agent says that it was free, and is an event', async () => {
      const { client, setBudget, leaveOneCall } = await budgeted(owner);
      const { projectId, database } = service;
      const path = `/${owner}`;
      const eventTypes = ['budget.reached' as const];
      const url = `${receiver.url}${path}`;
      const endpointId = await addEndpoint(database.pool, { projectId, url, eventTypes });
      const limit = await leaveOneCall();
      const raw = JSON.stringify({ ...free, result: 'Free.', num_turns: 1 });
      const { runId } = await client.trigger({ prompt: script([{ raw }, calls, { hang: true }]) });
      expect(await client.untilEnded(runId)).toMatchObject({ error: 'budget_exceeded' });
      expect(await callsOf({ runId })).toBe(1);
      const body = { prompt: 'Hi.' };
      const refused = await client.call('POST', `/flows/${client.flowId}/runs`, { body });
      const error = { code: 'BUDGET_REACHED', budget: owner, limit };
      expect(refused).toMatchObject({ status: 429, body: { error } });

      const posts = () => receiver.posts.filter((post) => post.path === path);
      await expect.poll(() => posts().length, { timeout: 60_000 }).toBe(2);
      const bodies = posts().map((post) => JSON.parse(post.body) as Record<string, unknown>);
      expect(new Set(bodies.map(({ percent }) => percent))).toEqual(new Set([80, 100]));
      expect(bodies[0]).toMatchObject({ projectId, budget: owner, limitUsd: limit });
      expect(posts().map(({ headers }) => headers['x-service-run-id'])).toEqual([
        undefined,
        undefined,
      ]);
      await removeEndpoint(database.pool, endpointId);
      await setBudget(null);
    });

    it('ends a turn of a session, which continues once the budget is raised', async () => {
      const { client, setBudget, leaveOneCall } = await budgeted(owner);
      const chat = await openConversation(client);
      await chat.say(script([{ say: 'begun' }]));
      const limit = await leaveOneCall();
      await chat.say(script([calls, { say: 'tried' }]));
      expect(await callsOf(chat)).toBe(1);
      const body = { message: 'Hi', sessionId: chat.sessionId };
      const refused = await client.call('POST', `/flows/${client.flowId}/chat`, { body });
      const error = { code: 'BUDGET_REACHED', budget: owner, limit };
      expect(refused).toMatchObject({ status: 429, body: { error } });
      await setBudget(null);
      expect((await chat.say(script([{ say: 'again' }]))).texts).toEqual(['again']);
      await endSession(client, chat);
    });
  },
);

/** An idle session whose file `f` changes, and was stored. */
async function openChanging(size: string): Promise<Conversation> {
  const chat = await openConversation(service);
  const change = `head -c ${size} /dev/zero > g; head -c 16 /dev/urandom >> g; mv g f`;
  const forever = `setsid sh -c 'while :; do ${change}; sleep 0.05; done' > /dev/null 2>&1 &`;
  await chat.say(script([{ shell: forever }]));
  await expect.poll(() => pathsOf(chat), { timeout: 60_000 }).toContain('f');
  return chat;
}

async function pathsOf({ runId }: Conversation): Promise<string[]> {
  const files = await service.call<{ path: string }[]>('GET', `/runs/${runId}/files`);
  return files.data.map(({ path }) => path);
}

async function framesOf(runId: string): Promise<{ seq: number; data: string }[]> {
  const text = 'select seq, data from frames where run_id = $1 order by seq';
  return (await service.database.pool.query<{ seq: number; data: string }>(text, [runId])).rows;
}
