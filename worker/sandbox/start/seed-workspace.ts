import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxDeps } from '../deps.ts';
import { restoreSession } from '../session/restore-session.ts';
import { writeFiles } from '../workspace/write-files.ts';
import type { Attachment } from './attach.ts';
import { SandboxStartError } from './start-error.ts';

const filesAtOnce = 100;
const doneName = 'seeded';
/** Files up to this size are read together, with one query for a hundred of them. */
const smallBytes = 64 * 1024;

/** A first sandbox starts with the flow's files, a later one with what the previous one left. */
export async function prepareWorkspace(
  deps: SandboxDeps,
  { ref, plan, folders }: Attachment,
): Promise<void> {
  if (plan.session !== null && (await restoreSession(deps, ref, folders))) return;
  await seedWorkspace(deps, ref.runId, folders);
}

/**
 * Writes the flow's and the request's files before the agent starts. A second call does nothing,
 * because an agent that was started in between may have changed them.
 */
async function seedWorkspace(
  { files, blobs }: SandboxDeps,
  runId: string,
  { root, workspace }: Attachment['folders'],
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
    if (written.outcome === 'rejected') throw notSeeded(written);
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
