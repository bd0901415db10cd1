import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { InputFile } from '../../../../../core/hosts/host-rpc.ts';
import { createKeyedMutex } from '../../../../../lib/async/keyed-mutex.ts';
import type { SandboxDeps } from '../../../../../worker/sandbox/deps.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { createSandboxFiles } from '../../../../../worker/sandbox/workspace/sandbox-files.ts';

const ref = { runId: randomUUID(), generation: 1 };
const session = { ...ref, token: 1 };

/** Files that wait for a turn, of which each settling takes away as many as the lease allows. */
async function filesThatWait(paths: string[], { isHeld }: { isHeld: boolean }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'files-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const { workspace } = foldersOf(dataDir, ref);
  await mkdir(workspace, { recursive: true });
  let waiting = paths.map((path) => ({ path, sha256: 'a', size: 2, mode: 0o644 }));
  const take = async (taken: InputFile[]): Promise<number> => {
    if (!isHeld) return 0;
    waiting = waiting.filter((file) => !taken.includes(file));
    return taken.length;
  };
  const deps = {
    dataDir,
    blobs: {
      read: async function* read() {
        yield Buffer.from('hi');
      },
    },
    turns: {
      pendingFiles: async () => waiting,
      markFilesWritten: (_held: unknown, files: InputFile[]) => take(files),
      discardFile: (_held: unknown, file: InputFile) => take([file]),
    },
  };
  // Of all that a supervisor has, what these come to use.
  const own = deps as unknown as SandboxDeps;
  return {
    workspace,
    files: createSandboxFiles(own, { findByRun: () => null }, createKeyedMutex()),
  };
}

test('what waits is put in its place once, and what cannot be is told of', async () => {
  const { workspace, files } = await filesThatWait(['a', 'b/c', 'd'], { isHeld: true });
  await writeFile(join(workspace, 'b'), '');
  const misplaced = await files.writePendingFiles(session, randomUUID());
  expect(misplaced).toMatchObject([{ path: 'b/c' }]);
  expect(await files.writePendingFiles(session, randomUUID())).toEqual([]);
});

test('a host that has lost the sandbox does not try for ever', async () => {
  const lost = await filesThatWait(['a'], { isHeld: false });
  await expect(lost.files.writePendingFiles(session, randomUUID())).rejects.toThrow(
    'the lease is lost',
  );
  const conflicting = await filesThatWait(['b/c'], { isHeld: false });
  await writeFile(join(conflicting.workspace, 'b'), '');
  const misplaced = await conflicting.files.writePendingFiles(session, randomUUID());
  expect(misplaced).toMatchObject([{ path: 'b/c' }]);
});
