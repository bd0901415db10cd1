// A session's conversation is stored in segments: what each turn added to it. Folders and database
// are real.

import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import { createBlobStore } from '../../../../../systems/postgres/files/blob-store.ts';
import { createTurnStore } from '../../../../../systems/postgres/sessions/turn-store.ts';
import { storeTranscript } from '../../../../../worker/sandbox/session/store-transcript.ts';
import { writeTranscript } from '../../../../../worker/sandbox/session/write-transcript.ts';
import { snapshotOf } from '../../../../support/snapshot-of.ts';
import { setupScenario } from '../../../systems/postgres/setup-scenario.ts';

const { database, scenario } = setupScenario();
const turns = () => createTurnStore(database.pool);
const blobs = () => createBlobStore(database.pool);
const kiB = 1024;

let runId: string;
let root: string;
let file: string;
beforeEach(async () => {
  ({ runId } = await scenario.session());
  root = newFolder();
  file = join(root, 'talk.jsonl');
  writeFileSync(file, '');
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const grow = (bytes: number) => appendFileSync(file, randomBytes(bytes));
const of = () => ({ runId, generation: 1, token: 0 });

async function read() {
  const { at, transcript: stored } = await turns().beginSave(runId);
  const transcript = await storeTranscript(blobs(), { root, stored, signal: undefined });
  return { at, workspace: snapshotOf([]), transcript };
}

async function save(): Promise<void> {
  expect(await turns().saveState(of(), await read())).toBe('listed');
}

/** The size of all blobs of the session, referenced or not. */
async function storedBytes(): Promise<number> {
  const text = 'select coalesce(sum(length(data)), 0)::float8 as bytes from blob_chunks';
  const { rows } = await database.pool.query<{ bytes: number }>(text);
  return rows[0]?.bytes ?? 0;
}

const segments = async (path = 'talk.jsonl') =>
  (await turns().listTranscript(runId)).find((one) => one.path === path)?.segments ?? [];

async function expectRestored(): Promise<void> {
  const folder = newFolder();
  const files = await turns().listTranscript(runId);
  expect(await writeTranscript(blobs(), folder, files)).toEqual({ outcome: 'written' });
  expect(readFileSync(join(folder, 'talk.jsonl')).equals(readFileSync(file))).toBe(true);
}

test('a conversation of many turns stores its size once, in few segments', async () => {
  const before = await storedBytes();
  for (let turn = 0; turn < 40; turn += 1) {
    grow(1024 * kiB);
    await save();
  }
  const size = 40 * 1024 * kiB;
  expect(await storedBytes()).toBe(before + size);
  expect(await segments()).toHaveLength(40);
  await expectRestored();
}, 120_000);

test('many small turns are stored again as one segment, a bounded number of times', async () => {
  const before = await storedBytes();
  const turnsMade = 3 * limits.transcript.smallSegmentsMax;
  for (let turn = 0; turn < turnsMade; turn += 1) {
    grow(kiB);
    await save();
  }
  expect((await segments()).length).toBeLessThanOrEqual(limits.transcript.smallSegmentsMax);
  const size = turnsMade * kiB;
  expect(await storedBytes()).toBeLessThan(before + 4 * size);
  await expectRestored();
}, 120_000);

test.each([
  ['truncated', () => truncateSync(file, 50 * kiB)],
  ['rewritten before its end', () => writeFileSync(file, randomBytes(kiB), { flag: 'r+' })],
  ['replaced by a longer one', () => writeFileSync(file, randomBytes(500 * kiB))],
  ['emptied', () => truncateSync(file, 0)],
])('a conversation that the agent has %s is stored as it is now', async (_how, change) => {
  for (let turn = 0; turn < 3; turn += 1) {
    grow(100 * kiB);
    await save();
  }
  change();
  await save();
  expect((await segments()).length).toBeLessThanOrEqual(1);
  await expectRestored();
  grow(kiB);
  await save();
  await expectRestored();
});

test('a save that is repeated, or that follows a crash after the upload, stores nothing more', async () => {
  grow(100 * kiB);
  await read(); // the process dies before it saves
  await save();
  const before = await storedBytes();
  await save();
  expect(await storedBytes()).toBe(before);
  expect(await segments()).toHaveLength(1);
  await expectRestored();
});

test('of two saves that began with the same version, only one appends', async () => {
  grow(kiB);
  await save();
  grow(kiB);
  const first = await read();
  grow(kiB);
  const second = await read();
  expect(await turns().saveState(of(), first)).toBe('listed');
  await expect(turns().saveState(of(), second)).rejects.toThrow('another version');
  await save();
  await expectRestored();
});

test('segments that are not the content that was saved are not restored', async () => {
  grow(kiB);
  await save();
  grow(kiB);
  await save();
  await database.pool.query('delete from transcript_segments where run_id = $1 and at = 0', [
    runId,
  ]);
  const restored = writeTranscript(blobs(), newFolder(), await turns().listTranscript(runId));
  await expect(restored).rejects.toThrow('talk.jsonl is damaged');
});

test('a segment that is removed meanwhile leaves the previous version', async () => {
  grow(kiB);
  await save();
  grow(kiB);
  const late = await read();
  const sha256 = late.transcript?.files[0]?.rest.sha256 ?? '';
  await database.pool.query(`delete from blobs where sha256 = decode($1, 'hex')`, [sha256]);
  await expect(turns().saveState(of(), late)).rejects.toThrow('foreign key');
  expect(await segments()).toHaveLength(1);
  const whole = createHash('sha256').update(readFileSync(file)).digest('hex');
  await save();
  expect((await turns().listTranscript(runId))[0]?.sha256).toBe(whole);
});
