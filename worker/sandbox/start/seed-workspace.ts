import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SupervisorDeps } from '../deps.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import { writeFiles } from '../workspace/write-files.ts';
import { SandboxStartError } from './start-error.ts';

const filesAtOnce = 100;
const doneName = 'seeded';
/** Read together with others, so that a hundred of them cost one question. */
const smallBytes = 64 * 1024;

/**
 * Puts the flow's and the request's files into a working directory, before its agent is there. Once
 * done it is not done again: an agent that was started in between may have changed them.
 */
export async function seedWorkspace(
  { files, blobs }: Pick<SupervisorDeps, 'files' | 'blobs'>,
  { runId }: SandboxRef,
  { root, workspace }: SandboxFolders,
): Promise<void> {
  const done = join(root, doneName);
  if (await stat(done).catch(() => null)) return;
  const seed = await files.listSeed(runId);
  for (let from = 0; from < seed.length; from += filesAtOnce) {
    const some = seed.slice(from, from + filesAtOnce);
    const small = await blobs.readSmall(some.filter(isSmall).map(({ sha256 }) => sha256));
    const written = await writeFiles(workspace, some, ({ sha256 }) => {
      const content = small.get(sha256);
      return content === undefined ? blobs.read(sha256) : single(content);
    });
    if (written.outcome === 'refused') throw notSeeded(written);
  }
  failpoint('start.seeded');
  await writeFile(done, '', { mode: 0o600 });
}

const isSmall = ({ size }: { size: number }): boolean => size <= smallBytes;

async function* single(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

const notSeeded = ({ path, reason }: { path: string; reason: string }): SandboxStartError =>
  new SandboxStartError(`the file ${path} cannot be written: ${reason}`, { permanent: true });
