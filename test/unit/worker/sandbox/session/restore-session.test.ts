// The state that a session's next sandbox starts with is restored into real folders.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { FileEntry } from '../../../../../core/files/file-entry.ts';
import type { RestorableTranscript } from '../../../../../core/sessions/transcript.ts';
import type { SandboxDeps } from '../../../../../worker/sandbox/deps.ts';
import { foldersOf, makeFolders } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { restoreSession } from '../../../../../worker/sandbox/session/restore-session.ts';
import { snapshotOf } from '../../../../support/snapshot-of.ts';

const ref = { runId: randomUUID(), generation: 2 };
const conversation = `-workspace/${ref.runId}.jsonl`;

/** `files` and `transcript` map stored paths to contents. */
async function restore(files: Record<string, string> | null, transcript: Record<string, string>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'restore-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const folders = foldersOf(dataDir, ref);
  await makeFolders(folders, async () => undefined);
  const contents = { ...files, ...transcript };
  const entriesOf = (stored: Record<string, string>): FileEntry[] =>
    Object.keys(stored).map((path) => ({
      ...{ path, sha256: path, size: 1, mode: 0o644 },
      ...{ scope: 'run', modifiedAt: new Date() },
    }));
  const transcriptFilesOf = (stored: Record<string, string>): RestorableTranscript[] =>
    Object.entries(stored).map(([path, content]) => ({
      ...{ path, mode: 0o644, modifiedAt: new Date() },
      sha256: createHash('sha256').update(content).digest('hex'),
      segments: [{ sha256: path, size: content.length }],
    }));
  const deps = {
    files: { listRespawn: async () => files && snapshotOf(entriesOf(files)) },
    turns: { listTranscript: async () => transcriptFilesOf(transcript) },
    blobs: {
      readSmall: async (hashes: string[]) =>
        new Map(hashes.map((hash) => [hash, Buffer.from(contents[hash] ?? '')])),
    },
  };
  // the only members that are used
  const isRestored = await restoreSession(deps as unknown as SandboxDeps, ref, folders);
  return { isRestored, folders, transcripts: join(folders.config, 'projects') };
}

test('restores the files and the conversation of the previous sandbox', async () => {
  const line = '{"type":"user"}';
  const restored = await restore({ 'a/b.txt': 'text' }, { [conversation]: line });
  expect(restored.isRestored).toBe(true);
  expect(readFileSync(join(restored.folders.workspace, 'a/b.txt'), 'utf8')).toBe('text');
  expect(readFileSync(join(restored.transcripts, conversation), 'utf8')).toBe(line);
});

test('restores nothing if nothing was stored', async () => {
  expect(await restore(null, {})).toMatchObject({ isRestored: false });
});

test.each([
  ['without messages', { [conversation]: '{"type":"summary"}' }],
  ['that the agent has replaced by a folder', { [`${conversation}/x`]: '{"type":"user"}' }],
])('removes a conversation %s, which no agent could continue', async (_kind, transcript) => {
  const { isRestored, transcripts } = await restore({}, transcript);
  expect(isRestored).toBe(true);
  expect(existsSync(join(transcripts, conversation))).toBe(false);
});
