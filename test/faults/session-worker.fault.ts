// The worker of a session is killed, stopped by a signal, or frozen until another process has
// locked its data folder, while one message is in the middle of its turn and others wait.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilGatewayAnswers } from '../support/gateway.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { startConversation } from './support/fault-conversation.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from './support/tcp-hold-proxy.ts';
import { waitForWorker } from './support/wait-for-reconnect.ts';

let fixture: FaultFixture;
let proxy: TcpHoldProxy;
let second: ServiceProcess;
beforeAll(async () => {
  fixture = await startFaultFixture();
  proxy = await openTcpHoldProxy(fixture.service.database.url);
  second = fixture.service.anotherWorker();
});
afterAll(async () => {
  await fixture?.stop();
  proxy?.close();
});

const timeoutMs = 120_000;
const frozenMs = 60_000;

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'loses no message when %s ends the worker in the middle of two turns',
  async (signal) => {
    const { service } = fixture;
    const { worker } = service;
    const conversation = await startConversation(fixture);
    for (const n of [0, 1]) {
      await conversation.untilInMiddle(n);
      await worker.kill(signal);
      await conversation.send();
      conversation.releaseAgents(n === 0 ? [0] : [1, 2, 3, 4]);
      await waitForWorker(service, conversation.runId, {
        worker,
        client: conversation.steadyClient,
      });
    }
    await conversation.expectComplete();
    expect(conversation.steadyClient.transcript.connections).toHaveLength(1);
    expect(fixture.containers.of(conversation.runId)).toEqual({
      created: 1,
      started: 1,
      removed: 1,
    });
  },
);

/** Everything that a worker without its data folder could still damage, except heartbeats. */
async function recordsOfSecond(runId: string) {
  const { database, sandboxes, dataDir } = fixture.service;
  const texts = (from: string): string =>
    `(select coalesce(json_agg(x::text order by x::text), '[]') from ${from} x where run_id = $1)`;
  const { rows } = await database.pool.query(
    `select r::text as run, l.lease_token, l.lease_owner, l.generation, l.byte_offset, l.last_seq,
            (select md5(string_agg(f::text, '' order by seq)) from frames f where run_id = $1),
            ${texts('sessions')} as session, ${texts('session_messages')} as messages,
            ${texts('run_files')} as files, ${texts('run_links')} as links,
            ${texts('run_folders')} as folders, ${texts('session_transcripts')} as transcripts,
            ${texts('transcript_segments')} as segments
     from run_logs l join runs r on r.id = l.run_id where r.id = $1`,
    [runId],
  );
  const folders = readdirSync(dataDir, { recursive: true }).map(String);
  return {
    rows,
    sandboxes: (await sandboxes.list()).filter((one) => one.runId === runId),
    folders: folders.filter((one) => /^[rs]\//.test(one)).sort(),
  };
}

/**
 * The statement in transit when the worker freezes, and the answer of Postgres when it arrives
 * late.
 */
const lateWrites = [
  { what: 'the end of a turn', from: /turn_end/, noEffect: 'SELECT 0' },
  { what: 'the record of stored files', from: /save_state/, noEffect: 'SELECT 0' },
];

it.each(lateWrites)(
  'rejects $what of a frozen worker that has lost its data folder',
  async ({ from, noEffect }) => {
    const { service } = fixture;
    const { worker, dataDir } = service;
    await second.kill('SIGTERM');
    await worker.kill('SIGTERM');
    await worker.start({ DATABASE_URL: proxy.url });
    const conversation = await startConversation(fixture);
    await conversation.send();

    proxy.hold(from);
    conversation.releaseAgents([0]);
    await expect.poll(proxy.held, { timeout: timeoutMs }).toMatch(from);
    worker.signal('SIGSTOP');
    const began = performance.now();
    rmSync(join(dataDir, 'lock'));
    await second.start();
    await conversation.untilInMiddle(1);
    await conversation.send();
    conversation.releaseAgents([1]);
    await conversation.untilInMiddle(2);
    await untilFilesStored(conversation.runId);
    await sleep(Math.max(0, frozenMs - (performance.now() - began)));

    // It wakes up, and its delayed write arrives.
    const before = await recordsOfSecond(conversation.runId);
    const frozenLog = worker.log().length;
    worker.signal('SIGCONT');
    proxy.release();
    expect(await worker.exited()).toEqual({ code: 1, signal: null });
    expect(worker.log().slice(frozenLog)).toContain('data_dir_lock_lost');
    await expect.poll(proxy.answered, { timeout: timeoutMs }).toContain(noEffect);
    expect(await recordsOfSecond(conversation.runId)).toEqual(before);
    expect(await untilGatewayAnswers(service, conversation.runId)).toBeLessThan(1_000);

    conversation.releaseAgents([2, 3, 4]);
    await conversation.expectComplete();
    expect(conversation.steadyClient.transcript.connections).toHaveLength(1);
    expect(second.log()).not.toContain('the lease is lost');
  },
);

/** The files of the last ended turn. */
async function untilFilesStored(runId: string): Promise<void> {
  const text = `
    select snapshot_at > (select max(ended_at) from session_messages where run_id = $1) as stored
    from sessions where run_id = $1`;
  const stored = async () =>
    (await fixture.service.database.pool.query<{ stored: boolean }>(text, [runId])).rows[0]?.stored;
  await expect.poll(stored, { timeout: timeoutMs }).toBe(true);
}
