import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxDeps } from '../deps.ts';
import { restoreSession } from '../session/restore-session.ts';
import { writeStoredFiles } from '../workspace/write-stored-files.ts';
import type { Attachment } from './attach.ts';
import { SandboxStartError } from './start-error.ts';

const doneName = 'seeded';

/**
 * Writes files before the agent starts: in a first sandbox those of the flow and of the request, in
 * a later one those that the previous one left. A second call does nothing, because an agent that
 * was started in between may have changed them.
 */
export async function prepareWorkspace(
  deps: SandboxDeps,
  { ref, plan, folders }: Attachment,
): Promise<void> {
  if (plan.session !== null && (await restoreSession(deps, ref, folders))) return;
  const done = join(folders.root, doneName);
  if (await stat(done).catch(() => null)) return;
  const seed = await deps.files.listSeed(ref.runId);
  const written = await writeStoredFiles(deps.blobs, folders.workspace, seed);
  if (written.outcome === 'rejected') throw notSeeded(written);
  failpoint('start.seeded');
  await writeFile(done, '', { mode: 0o600 });
}

const notSeeded = ({ path, reason }: { path: string; reason: string }): SandboxStartError =>
  new SandboxStartError(`the file ${path} cannot be written: ${reason}`, { permanent: true });
