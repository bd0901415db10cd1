// Data of a sandbox is stored under its generation. A superseded sandbox can store nothing: neither
// before, nor after, nor while its slot is reassigned.

import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { FileEntry } from '../../../../core/files/file-entry.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { Lease } from '../../../../systems/postgres/log/lease.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { snapshotOf, transcriptOf } from '../../../support/snapshot-of.ts';
import { setupScenario } from './setup-scenario.ts';

const content = Buffer.from('hello');
const sha256 = createHash('sha256').update(content).digest('hex');
const modifiedAt = new Date('2027-01-02T03:04:05.678Z');
const entry = (path: string): FileEntry => ({
  ...{ path, size: content.length, sha256, mode: 0o644, scope: 'run', modifiedAt },
});

const { database, scenario } = setupScenario();
let runId: string;
beforeAll(async () => {
  await createHostStore(database.pool).renew({ hostId: 'h-1', name: 'h', capacity: 1_000 });
  async function* chunks() {
    yield content;
  }
  await createBlobStore(database.pool).put(chunks(), { sha256, size: content.length });
});
/** A session with a message, whose first sandbox has a slot. */
beforeEach(async () => {
  ({ runId } = await scenario.session());
  const message = { runId, messageId: randomUUID(), clientMessageId: null, text: 'Hello.' };
  await createMessageStore(database.pool).store(message);
  expect(await nextSlot(0)).toBe(1);
});

const turns = () => createTurnStore(database.pool);
const files = () => createFileStore(database.pool);

async function nextSlot(after: number): Promise<number> {
  const slot = await turns().claimSlot(runId, after);
  return slot.outcome === 'assigned' ? slot.generation : 0;
}

const stateOf = (file: FileEntry, transcript = file) => ({
  ...{ at: new Date(), workspace: snapshotOf([file]), transcript: transcriptOf([transcript]) },
});

/** Everything that a sandbox stores. Returns whether it was accepted. */
async function save(generation: number, name: string, lease?: Lease): Promise<boolean> {
  const of = { runId, generation, token: lease?.token ?? 0 };
  const outcome = await turns().saveState(of, stateOf(entry(name)));
  const skipped = [{ path: name, reason: 'a socket' }];
  const record = { at: '', files: 1, bytes: 5, skippedCount: 1, skipped };
  await createRunStore(database.pool, testSealer).recordSnapshot(of, record);
  return outcome !== null;
}

async function stored() {
  const kept = await files().list(runId, { limit: 9 });
  const transcript = await turns().listTranscript(runId);
  const { rows } = await database.pool.query<{ of: string; savedAt: Date | null }>(
    `select r.snapshot::json -> 'skipped' -> 0 ->> 'path' as of, s.snapshot_at as "savedAt"
     from runs r join sessions s on s.run_id = r.id where r.id = $1`,
    [runId],
  );
  return {
    files: kept.map(({ path }) => path),
    transcript: transcript.map(({ path }) => path),
    ...rows[0],
  };
}

test('a superseded sandbox changes no stored data', async () => {
  expect(await save(1, 'first')).toBe(true);
  const before = await stored();
  expect(before).toMatchObject({ files: ['first'], transcript: ['first'], of: 'first' });
  expect(await nextSlot(1)).toBe(2);
  expect(await save(1, 'late')).toBe(false);
  expect(await stored()).toEqual(before);
  expect(await save(2, 'second')).toBe(true);
  expect(await save(1, 'late')).toBe(false);
  expect(await stored()).toMatchObject({
    ...{ files: ['second'], transcript: ['second'], of: 'second' },
  });
});

test('the next sandbox gets the stored files even if the snapshot was not recorded', async () => {
  expect(await files().listRespawn(runId)).toBeNull();
  await turns().saveState({ runId, generation: 1, token: 0 }, stateOf(entry('first')));
  expect(await files().listRespawn(runId)).toMatchObject({ files: [{ path: 'first' }] });
});

test('files and conversation are replaced together, or neither is', async () => {
  expect(await save(1, 'first')).toBe(true);
  const before = await stored();
  const withoutContent = { ...entry('second'), sha256: 'f'.repeat(64) };
  for (const state of [
    stateOf(entry('second'), withoutContent),
    stateOf(withoutContent, entry('second')),
  ]) {
    const saved = turns().saveState({ runId, generation: 1, token: 0 }, state);
    await expect(saved).rejects.toThrow('foreign key');
    expect(await stored()).toEqual(before);
  }
});

test('storing waits for the claim of the next slot, and is then rejected', async () => {
  const giver = await database.pool.connect();
  try {
    await giver.query('begin');
    await giver.query(`select from claim_session_slot($1, 1, '30 s')`, [runId]);
    const late = save(1, 'late');
    await untilWaiting();
    await giver.query('commit');
    expect(await late).toBe(false);
    expect(await stored()).toMatchObject({ files: [], transcript: [], of: null, savedAt: null });
  } finally {
    giver.release();
  }
});

test("of a superseded and a current sandbox at once, the current one's files remain every time", async () => {
  for (let generation = 1; generation <= 20; generation += 1) {
    const late = save(generation, `old-${generation}`);
    const next = nextSlot(generation).then((following) => save(following, `new-${generation}`));
    expect(await next).toBe(true);
    await late;
    const name = `new-${generation}`;
    expect(await stored()).toMatchObject({ files: [name], transcript: [name], of: name });
  }
});

test('a host that lost the lease changes no stored data', async () => {
  const first = await takeLease();
  expect(await save(1, 'first', first)).toBe(true);
  const before = await stored();
  const second = await takeLease();
  expect(await save(1, 'late', first)).toBe(false);
  expect(await stored()).toEqual(before);
  expect(await save(1, 'second', second)).toBe(true);
  expect(await save(1, 'late', first)).toBe(false);
  expect(await stored()).toMatchObject({ files: ['second'], of: 'second' });
});

test('a sandbox cannot fail a message that another sandbox or host has received since', async () => {
  const { rows } = await database.pool.query<{ id: string }>(
    `update session_messages set generation = 2, delivery_attempts = 1 where run_id = $1 returning id`,
    [runId],
  );
  const id = rows[0]?.id ?? '';
  const attempts = async () =>
    (
      await database.pool.query(
        'select delivery_attempts as attempts from session_messages where id = $1',
        [id],
      )
    ).rows;
  const [before, { token }] = [await takeLease(), await takeLease()];
  await turns().failCurrentTurn({ runId, generation: 1, token }, id, 'stalled');
  await turns().failCurrentTurn({ runId, generation: 2, token: before.token }, id, 'stalled');
  expect(await attempts()).toEqual([{ attempts: 1 }]);
  await turns().failCurrentTurn({ runId, generation: 2, token }, id, 'stalled');
  expect(await attempts()).toEqual([{ attempts: 2 }]);
});

test('a host that lost the lease receives no message and announces none', async () => {
  const lease = await createFrameStore(database.pool).takeLease(runId, 'h-1', 60_000);
  const held = { runId, generation: 1, token: lease?.token ?? 0 };
  await expect(turns().claim({ ...held, token: held.token - 1 })).rejects.toThrow('is lost');
  const announcedFrame = { event: 'user_message' };
  expect(await turns().claim(held)).toMatchObject({
    outcome: 'turn',
    isAccepted: false,
    announcedFrame,
  });
});

/** Takes the lease, even from an earlier process of the same host. */
async function takeLease(): Promise<Lease> {
  const lease = await createFrameStore(database.pool).takeLease(runId, 'h-1', 60_000);
  if (lease === null) throw new Error('the lease is not available');
  return lease;
}

async function untilWaiting(): Promise<void> {
  const text = `select from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.pool.query(text)).rowCount).toBe(1);
}
