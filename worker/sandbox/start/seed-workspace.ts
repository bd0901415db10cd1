import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxDeps } from '../deps.ts';
import { restoreSession } from '../session/restore-session.ts';
import { writeStoredFiles } from '../workspace/write-stored-files.ts';
import type { Attachment } from './attach.ts';
import { SandboxStartError } from './start-error.ts';

const doneName = 'seeded';

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
  const written = await writeStoredFiles(blobs, workspace, seed);
  if (written.outcome === 'rejected') throw notSeeded(written);
  failpoint('start.seeded');
  await writeFile(done, '', { mode: 0o600 });
}

const notSeeded = ({ path, reason }: { path: string; reason: string }): SandboxStartError =>
  new SandboxStartError(`the file ${path} cannot be written: ${reason}`, { permanent: true });
