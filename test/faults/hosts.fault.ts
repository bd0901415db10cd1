import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import { openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { endSession, untilWorking } from '../support/run-states.ts';
import { type Host, hostIdIn, type Service, startService } from '../support/service.ts';
import {
  continueSession,
  expectContinued,
  ownConfiguration,
  writeNotes,
} from './support/migrated-session.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from './support/tcp-hold-proxy.ts';

const lostMs = 24_000;
const timeoutMs = 120_000;
const patiently = { timeout: 300_000 };

let service: Service;
let second: Host;
let proxy: TcpHoldProxy;
beforeAll(async () => {
  const env = {
    HOST_LOST_MS: String(lostMs),
    RECONCILE_EVERY_MS: '500',
    LEASE_MS: '3000',
    SESSION_PAUSE_AFTER_MS: '600000',
  };
  service = await startService({ env });
  second = await service.anotherHost();
  proxy = await openTcpHoldProxy(service.database.url);
  await service.worker.kill('SIGTERM');
  const text = 'update projects set max_concurrent_runs = 100 where id = $1';
  await service.database.pool.query(text, [service.projectId]);
});
afterAll(async () => {
  await service?.stop();
  proxy?.close();
});

/** All work starts on the first host, which can be cut off from Postgres; the second is a spare. */
async function bothHosts(): Promise<void> {
  await second.worker.kill('SIGTERM');
  await service.worker.kill('SIGTERM');
  await service.worker.start({ DATABASE_URL: proxy.url });
  await expect.poll(mayPlaceOnSecond, { timeout: timeoutMs }).toBe(false);
}

async function mayPlaceOnSecond(): Promise<boolean> {
  const hosts = await createHostStore(service.database.pool).list();
  const found = hosts.find(({ hostId }) => hostId !== hostIdIn(service.dataDir));
  return found !== undefined && Date.now() - found.lastSeen.getTime() < lostMs / 4 + 1_000;
}

async function sandboxesOf(runId: string) {
  const own = (await service.sandboxes.list()).filter((one) => one.runId === runId);
  return own.map(({ hostId, generation, state }) => ({ hostId, generation, state }));
}

describe('a host that is killed and does not return', patiently, () => {
  it('loses its sessions to another host, and its runs end', async () => {
    await bothHosts();
    const first = hostIdIn(service.dataDir);
    const chat = await openConversation(service, ownConfiguration);
    await chat.say(writeNotes);
    const plain = await service.trigger({ prompt: script([{ say: 'working' }, { hang: true }]) });
    await untilWorking(service, plain);
    await second.worker.start();

    const seen = chat.events.length;
    await service.worker.kill('SIGKILL');
    const began = performance.now();
    const turn = await chat.say(continueSession);
    console.log(`the session continued ${Math.round(performance.now() - began)} ms after the kill`);
    expect(turn).toMatchObject({ exitCode: 0 });
    expectContinued(chat, seen);
    const ended = await service.untilEnded(plain.runId, timeoutMs);
    console.log(`the run had ended ${Math.round(performance.now() - began)} ms after the kill`);
    expect(ended).toMatchObject({ error: expect.stringContaining('max_reconnects_exceeded') });

    // It returns, and removes sandboxes that moved to another host or have ended.
    expect(await sandboxesOf(chat.runId)).toContainEqual(
      expect.objectContaining({ hostId: first, generation: 1 }),
    );
    await service.worker.start({ DATABASE_URL: proxy.url });
    await expect
      .poll(() => sandboxesOf(chat.runId), { timeout: timeoutMs })
      .toEqual([{ hostId: second.hostId(), generation: 2, state: 'running' }]);
    await expect.poll(() => sandboxesOf(plain.runId), { timeout: timeoutMs }).toEqual([]);
    await endSession(service, chat);
  });
});

describe('a host that is lost while it saves a turn', patiently, () => {
  it.each([
    {
      when: 'before',
      failpoint: 'workspace.stored',
      note: 'first',
      announced: ['session_ready', 'state_rolled_back', 'user_message'],
    },
    {
      when: 'after',
      failpoint: 'workspace.listed',
      note: 'second',
      announced: ['session_ready', 'user_message'],
    },
  ])(
    '$when the commit leaves the files and the conversation of the $note turn',
    async ({ failpoint, note, announced }) => {
      await bothHosts();
      const chat = await openConversation(service);
      const { messageId } = await chat.say(script([{ shell: 'echo first > note' }]));
      await expect.poll(() => isSaved(chat.runId), { timeout: timeoutMs }).toBe(true);
      await service.worker.kill('SIGTERM');
      await service.worker.start({ DATABASE_URL: proxy.url, FAILPOINT: failpoint });
      expect(await chat.say(script([{ shell: 'echo second > note' }]))).toMatchObject({
        exitCode: 0,
      });
      expect(await service.worker.exited()).toEqual({ code: null, signal: 'SIGKILL' });
      await second.worker.start();

      const seen = chat.events.length;
      await chat.say(script([{ shell: 'cat note' }, { recall: true }, { say: 'Done.' }]));
      const later = chat.events.slice(seen);
      const start = later.filter(({ event }) => /^(session_ready|state_|user_m)/.test(event));
      expect(start.map(({ event }) => event)).toEqual(announced);
      const rollBack = start.find(({ event }) => event === 'state_rolled_back');
      if (rollBack) expect(JSON.parse(rollBack.data)).toEqual({ messageId });
      expect(JSON.parse(start.at(-1)?.data ?? '')).not.toHaveProperty('attempt');
      const result = later.find(({ event, data }) => event === 'user' && /tool_result/.test(data));
      expect(result?.data).toContain(note);
      const recalled = later.filter(({ event }) => event === 'chat_output').map(({ data }) => data);
      expect(recalled.join().includes('second')).toBe(note === 'second');
      await endSession(service, chat);
    },
  );
});

async function isSaved(runId: string): Promise<boolean | undefined> {
  const text = `
    select snapshot_at >= (select max(ended_at) from session_messages where run_id = $1) as saved
    from sessions where run_id = $1`;
  return (await service.database.pool.query<{ saved: boolean }>(text, [runId])).rows[0]?.saved;
}

describe('a host that is killed before it starts its runs', patiently, () => {
  it('leaves them to another host, and all of them complete', async () => {
    await bothHosts();
    await second.worker.start();
    const runIds: string[] = [];
    await service.worker.kill('SIGKILL');
    const began = performance.now();
    for (let n = 0; n < 20; n += 1) {
      const { runId } = await service.trigger({ prompt: script([{ say: 'done' }]) });
      runIds.push(runId);
    }
    const ended = await Promise.all(runIds.map((id) => service.untilEnded(id, timeoutMs)));
    console.log(`all had ended ${Math.round(performance.now() - began)} ms after the kill`);
    expect(ended.filter(({ error }) => error !== undefined)).toEqual([]);
    const { rows } = await service.database.pool.query<{ moved: number }>(
      'select count(*) as moved from runs where id = any($1) and generation = 2',
      [runIds],
    );
    expect(rows[0]?.moved).toBeGreaterThan(0);
  });
});

describe('a host that cannot reach Postgres', patiently, () => {
  it('pauses its sandboxes, and resumes them if its heartbeat returns in time', async () => {
    await bothHosts();
    const prompt = script([{ say: 'working' }, { shell: 'sleep 15; date' }, { say: 'done' }]);
    const { runId } = await service.trigger({ prompt });
    await untilWorking(service, { runId });
    const from = service.worker.log().length;
    proxy.blockAll();
    const began = performance.now();
    const stateOf = async () => (await sandboxesOf(runId)).map(({ state }) => state);
    await expect.poll(stateOf, { timeout: lostMs }).toEqual(['paused']);
    console.log(
      `fenced ${Math.round(performance.now() - began)} ms after the connections were blocked`,
    );
    expect(service.worker.log().slice(from)).toContain('host_fenced');
    proxy.restore();
    await expect.poll(stateOf, { timeout: timeoutMs }).toEqual(['running']);
    expect(await service.untilEnded(runId, timeoutMs)).toMatchObject({
      exitCode: 0,
      result: 'done',
    });
    expect(service.worker.log().slice(from)).toContain('host_unfenced');
  });

  it('loses its sessions to another host, and never resumes its own', async () => {
    await bothHosts();
    const first = hostIdIn(service.dataDir);
    const chat = await openConversation(service, ownConfiguration);
    await chat.say(writeNotes);
    await second.worker.start();
    const seen = chat.events.length;
    proxy.blockAll();
    const turn = await chat.say(continueSession);
    expect(turn).toMatchObject({ exitCode: 0 });
    expectContinued(chat, seen);
    const from = service.worker.log().length;
    expect(await sandboxesOf(chat.runId)).toContainEqual({
      hostId: first,
      generation: 1,
      state: 'paused',
    });
    proxy.restore();
    await expect
      .poll(() => sandboxesOf(chat.runId), { timeout: timeoutMs })
      .toEqual([{ hostId: second.hostId(), generation: 2, state: 'running' }]);
    await expect
      .poll(() => service.worker.log().slice(from), { timeout: timeoutMs })
      .toMatch(/"kept":0,.*host_unfenced/);
    await endSession(service, chat);
  });
});
