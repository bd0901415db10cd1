// More sessions than slots: an idle session is evicted for a session with work.

import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { eventsOf } from '../support/workflow-events.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

let service: Service;
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  service = await startService({ env: { HOST_CAPACITY: '2' } });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await connection?.close();
});

const saying = (say: string): string => script([{ say }]);
const waitForRelease = script([{ say: 'working' }, { waitForFile: 'go-on' }]);
const statusOf = async ({ runId }: Conversation) => (await service.readRun(runId)).status;

describe('on a host without a free slot', { timeout: 240_000 }, () => {
  it('a run gets the slot of the longest-idle session, whose next message wakes it up again', async () => {
    const [first, second] = [await openConversation(service), await openConversation(service)];
    expect(await first.say(saying('One.'))).toMatchObject({ exitCode: 0, texts: ['One.'] });
    expect(await second.say(saying('Two.'))).toMatchObject({ exitCode: 0, texts: ['Two.'] });
    const { runId } = await service.trigger({ prompt: saying('Done.') });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
    expect(await statusOf(first)).toBe('sleep');
    expect(await statusOf(second)).toBe('running');
    expect(await first.say(saying('Again.'))).toMatchObject({ exitCode: 0, texts: ['Again.'] });
    expect(first.named('finished')).toEqual([]);
    await Promise.all([endSession(service, first), endSession(service, second)]);
  });

  it('six sessions are answered on two slots, one after the other', async () => {
    const chats = await Promise.all(Array.from({ length: 6 }, () => openConversation(service)));
    const turns = await Promise.all(chats.map((chat, n) => chat.say(saying(`I am ${n}.`))));
    for (const [n, turn] of turns.entries()) {
      expect(turn).toMatchObject({ exitCode: 0, texts: [`I am ${n}.`] });
    }
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });

  it('no working session is evicted', async () => {
    const chats = [await openConversation(service), await openConversation(service)];
    const turns = await Promise.all(chats.map((chat) => chat.send(waitForRelease)));
    for (const chat of chats) await chat.until(({ event }) => event === 'chat_output');
    const evictions = service.worker.log().split('"session_eviction_requested"').length;
    const { runId } = await service.trigger({ prompt: saying('Done.') });
    // Heartbeats have requested a slot for it.
    await new Promise((done) => setTimeout(done, 6_000));
    expect(await service.readRun(runId)).toMatchObject({ startedAt: null, finishedAt: null });
    expect(service.worker.log().split('"session_eviction_requested"')).toHaveLength(evictions);
    for (const { runId: session } of chats) releaseAgent(service, session);
    for (const [n, chat] of chats.entries()) {
      expect(await chat.turn(turns[n] ?? '')).toMatchObject({ exitCode: 0 });
    }
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });

  it('a session is evicted when its turn ends, without a heartbeat', async () => {
    const chats = [await openConversation(service), await openConversation(service)];
    const turns = await Promise.all(chats.map((chat) => chat.send(waitForRelease)));
    for (const chat of chats) await chat.until(({ event }) => event === 'chat_output');
    await withoutRepairs(async () => {
      const { runId } = await service.trigger({ prompt: saying('Done.') });
      await untilWaiting(runId);
      const [first, second] = chats;
      if (!first || !second) throw new Error('no sessions');
      releaseAgent(service, first.runId);
      expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
      expect([await statusOf(first), await statusOf(second)]).toEqual(['sleep', 'running']);
      releaseAgent(service, second.runId);
    });
    for (const [n, chat] of chats.entries()) {
      expect(await chat.turn(turns[n] ?? '')).toMatchObject({ exitCode: 0 });
    }
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });
});

/** Runs `work` while no heartbeat repairs waiting runs: another worker leads that job. */
async function withoutRepairs(work: () => Promise<void>): Promise<void> {
  const { pool } = service.database;
  await pool.query(
    `insert into reconciler_jobs as j (name, leader, free_at) values ('slots', 'another', 'infinity')
     on conflict (name) do update set leader = excluded.leader, free_at = excluded.free_at`,
  );
  try {
    await work();
  } finally {
    await pool.query(`delete from reconciler_jobs where name = 'slots'`);
  }
}

/** Resolves when its workflow has found no slot and waits for a signal. */
async function untilWaiting(runId: string): Promise<void> {
  const workflowId = await workflowIdOf(service, runId);
  const isSettled = async () => (await eventsOf(connection, [workflowId]))[0] !== null;
  await expect.poll(isSettled, { timeout: 60_000 }).toBe(true);
}
