import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { InputFile } from '../../../../../core/hosts/host-rpc.ts';
import { createKeyedMutex } from '../../../../../lib/async/keyed-mutex.ts';
import type { SandboxDeps } from '../../../../../worker/sandbox/deps.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import type { SupervisedSandbox } from '../../../../../worker/sandbox/supervised-sandbox.ts';
import { createSandboxFiles } from '../../../../../worker/sandbox/workspace/sandbox-files.ts';

const ref = { runId: randomUUID(), generation: 1 };
const session = { ...ref, token: 1 };

/** Pending files of a turn. They can be marked written only while the lease is held. */
async function pendingFiles(paths: string[], { isHeld }: { isHeld: boolean }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'files-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const { workspace } = foldersOf(dataDir, ref);
  await mkdir(workspace, { recursive: true });
  let pending = paths.map((path) => ({ path, sha256: 'a', size: 2, mode: 0o644 }));
  const settle = async (settled: InputFile[]): Promise<number> => {
    if (!isHeld) return 0;
    pending = pending.filter((file) => !settled.includes(file));
    return settled.length;
  };
  const deps = {
    dataDir,
    blobs: {
      read: async function* read() {
        yield Buffer.from('hi');
      },
    },
    turns: {
      pendingFiles: async () => pending,
      markFilesWritten: (_held: unknown, files: InputFile[]) => settle(files),
      discardFile: (_held: unknown, file: InputFile) => settle([file]),
    },
  };
  // the only members that are used
  const sandboxDeps = deps as unknown as SandboxDeps;
  return {
    workspace,
    files: createSandboxFiles(sandboxDeps, { findByRun: () => null }, createKeyedMutex()),
  };
}

test('pending files are written once, and those that cannot be written are returned', async () => {
  const { workspace, files } = await pendingFiles(['a', 'b/c', 'd'], { isHeld: true });
  await writeFile(join(workspace, 'b'), '');
  const unwritable = await files.writePendingFiles(session, randomUUID());
  expect(unwritable).toMatchObject([{ path: 'b/c' }]);
  expect(await files.writePendingFiles(session, randomUUID())).toEqual([]);
});

/** Files of a sandbox whose saves are listed. */
function savedFiles({ isOverQuota, isSession }: { isOverQuota: boolean; isSession: boolean }) {
  const saved: string[] = [];
  const save = async () => void saved.push(ref.runId);
  const sandbox = { isLive: () => true, lease: session, session: isSession ? { save } : null };
  const usedUpQuota = async () => (isOverQuota ? { limit: 1, current: 1 } : null);
  const withFilesLock = <T>(_runId: string, work: () => Promise<T>) => work();
  // the only members that are used
  const sandboxes = { findByRun: () => sandbox as unknown as SupervisedSandbox };
  const deps = { projects: { usedUpQuota }, withFilesLock } as unknown as SandboxDeps;
  return { saved, files: createSandboxFiles(deps, sandboxes, createKeyedMutex()) };
}

test('the files of a session are stored with its conversation', async () => {
  const { files, saved } = savedFiles({ isOverQuota: false, isSession: true });
  const { signal } = new AbortController();
  expect(await files.storeAll(ref.runId, signal)).toEqual({ outcome: 'stored' });
  expect(saved).toEqual([ref.runId]);
});

test.each([true, false])(
  'a list stores nothing over the quota (session: %s)',
  async (isSession) => {
    const { files, saved } = savedFiles({ isOverQuota: true, isSession });
    const { signal } = new AbortController();
    expect(await files.storeAll(ref.runId, signal)).toEqual({ outcome: 'over_quota' });
    expect(saved).toEqual([]);
  },
);

test('a host that has lost its lease does not retry forever', async () => {
  const lost = await pendingFiles(['a'], { isHeld: false });
  await expect(lost.files.writePendingFiles(session, randomUUID())).rejects.toThrow(
    'the lease is lost',
  );
  const conflicting = await pendingFiles(['b/c'], { isHeld: false });
  await writeFile(join(conflicting.workspace, 'b'), '');
  const unwritable = await conflicting.files.writePendingFiles(session, randomUUID());
  expect(unwritable).toMatchObject([{ path: 'b/c' }]);
});
