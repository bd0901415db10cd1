// Postgres continues without its last commits, while the service runs. Nothing runs twice and
// nothing waits forever. A new server that has lost nothing ends nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import type { RunRecord } from '../support/api-client.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { type OperatorCall, signInByFirstLink } from '../support/operator-client.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { untilRemoved, untilWorking } from '../support/run-states.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { ownPostgres, resetServers } from './support/fault-servers.ts';
import { copyPostgres, replaceByCopy, replaceWithoutLoss } from './support/postgres-copy.ts';

const pollOptions = { timeout: 180_000 };
const waits = script([{ say: 'here' }, { waitForFile: 'go-on' }, { say: 'Done.' }]);

let fixture: FaultFixture;
let operator: OperatorCall;
let url: string;
/** Running before the loss. */
let known: RunRecord;
/** Admitted in the time that is lost. */
let lost: RunRecord;
let chat: Conversation;

beforeAll(async () => {
  await resetServers();
  ({ address: url } = await ownPostgres());
  fixture = await startFaultFixture({
    on: { postgresUrl: url },
    env: { RECONCILE_EVERY_MS: '1000' },
  });
  operator = await signInByFirstLink(fixture.service);
});
afterAll(async () => {
  await fixture?.stop();
  await stopFaultTestServers();
});

async function query<T extends object>(text: string): Promise<T[]> {
  return (await fixture.service.database.pool.query<T>(text)).rows;
}

/** The row of the only host, null while Postgres is down. */
async function readHost() {
  const text = `select heartbeats, server_started_at = pg_postmaster_start_time() as "isCurrent",
    left(pg_walfile_name(pg_current_wal_lsn()), 8)::int as timeline from hosts`;
  const hosts = query<{ heartbeats: number; isCurrent: boolean; timeline: number }>(text);
  return hosts.then(([host]) => host ?? null).catch(() => null);
}

const countRestores = async () =>
  (await query<{ count: number }>('select count(*) from restores'))[0]?.count;

const isSignedIn = async () => (await operator('GET', '/api/me')).status === 200;

it('a new server with every commit ends nothing and signs no operator out', async () => {
  const { service } = fixture;
  const run = await service.trigger({ prompt: waits, idempotencyKey: 'kept' });
  await untilWorking(service, run);
  await replaceWithoutLoss();
  await expect.poll(readHost, pollOptions).toMatchObject({ isCurrent: true, timeline: 2 });
  const again = await untilAnswered('kept');
  expect([again.status, again.data.runId]).toEqual([200, run.runId]);
  releaseAgent(service, run.runId);
  expect(await service.untilEnded(run.runId)).toMatchObject({ result: 'Done.', exitCode: 0 });
  expect(await countRestores()).toBe(0);
  expect(await isSignedIn()).toBe(true);
});

it('repeats no run whose admission was lost', async () => {
  const { service } = fixture;
  known = await service.trigger({ prompt: waits });
  chat = await openConversation(service);
  await chat.say(script([{ say: 'Kept.' }]));
  await untilWorking(service, known);
  await copyPostgres(url);
  const copied = (await readHost())?.heartbeats ?? 0;
  lost = await service.trigger({ prompt: waits, idempotencyKey: 'lost' });
  await chat.say(script([{ say: 'Lost.' }]));
  await untilWorking(service, lost);
  const heartbeats = async () => (await readHost())?.heartbeats;
  await expect.poll(heartbeats, pollOptions).toBeGreaterThan(copied + 1);
  await replaceByCopy();
  const again = await untilAnswered('lost');
  expect([again.status, again.data.runId]).toEqual([200, lost.runId]);
  expect(await service.readRun(lost.runId)).toMatchObject({ error: 'lost_in_restore' });
  expect(await countRestores()).toBe(1);
  expect(service.worker.log()).toContain('"database_commits_lost"');
});

/** Retries like a client while the service or Postgres is not ready. */
async function untilAnswered(idempotencyKey: string) {
  const path = `/flows/${fixture.service.flowId}/runs`;
  const body = { prompt: script([{ say: 'Again.' }]), idempotencyKey };
  const end = performance.now() + pollOptions.timeout;
  for (;;) {
    const answer = await fixture.service.call<RunRecord>('POST', path, { body });
    if (answer.status < 500 || performance.now() > end) return answer;
    await sleep(100);
  }
}

it('ends the runs that were active, and signs operators out', async () => {
  const ended = await fixture.service.untilEnded(known.runId, pollOptions.timeout);
  expect(ended).toMatchObject({ error: 'max_reconnects_exceeded' });
  expect(await isSignedIn()).toBe(false);
  for (const run of [known, lost]) await untilRemoved(fixture.service, run);
});

it('continues a session from what is left, with the same events in its stream and its log', async () => {
  const { service } = fixture;
  const again = await openConversation(service, { sessionId: chat.sessionId });
  const turn = await again.say(script([{ say: 'Fresh.' }]));
  expect(turn).toMatchObject({ exitCode: 0, texts: ['Fresh.'] });
  expect(again.events.some(({ data }) => data.includes('Lost.'))).toBe(false);
  // Output that is replayed comes without its position.
  const logged = await query<{ id: string; event: string }>(
    `select seq::text as id, event from frames
     where run_id = '${chat.runId}' and event <> 'output' order by seq`,
  );
  const streamed = again.events.flatMap(({ id, event }) =>
    id === undefined || event === 'output' ? [] : [{ id, event }],
  );
  expect(streamed).toEqual(logged.slice(0, streamed.length));
});

it('repeats no run whose admission was lost between two heartbeats', async () => {
  const { service } = fixture;
  const unreconciled = () => query('select from restores where reconciled_at is null');
  await expect.poll(unreconciled, pollOptions).toEqual([]);
  service.worker.signal('SIGSTOP'); // no heartbeat follows the copy
  await copyPostgres(url);
  lost = await service.trigger({ prompt: waits, idempotencyKey: 'lost-soon' });
  await replaceByCopy();
  service.worker.signal('SIGCONT');
  const again = await untilAnswered('lost-soon');
  expect([again.status, again.data.runId]).toEqual([200, lost.runId]);
  expect(await service.readRun(lost.runId)).toMatchObject({ error: 'lost_in_restore' });
  expect(await countRestores()).toBe(2);
});
