import { chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import { removeTree, type SandboxFolders } from '../sandbox-paths.ts';
import { writeTree } from '../workspace/write-tree.ts';
import { transcriptsOf } from './save-session.ts';
import { hasConversation, transcriptName } from './transcript.ts';
import { writeTranscript } from './write-transcript.ts';

const doneName = 'restored';

/**
 * Writes the files and transcript of the previous sandbox. False if nothing was ever stored. A
 * second call does nothing, because the agent may be working in the files by then.
 */
export async function restoreSession(
  deps: Pick<SandboxDeps, 'files' | 'turns' | 'blobs'>,
  { runId }: SandboxRef,
  folders: Pick<SandboxFolders, 'root' | 'workspace' | 'config'>,
): Promise<boolean> {
  const done = join(folders.root, doneName);
  if (await stat(done).catch(() => null)) return true;
  const workspace = await deps.files.listRespawn(runId);
  if (workspace === null) return false;
  const files = await writeTree(deps.blobs, folders.workspace, workspace);
  if (files.outcome === 'rejected') throw new Error(cannotRestore(files.reason));
  const transcripts = transcriptsOf(folders);
  await mkdir(transcripts, { recursive: true, mode: 0o700 });
  await chown(transcripts, sandboxPaths.uid, sandboxPaths.gid);
  const transcript = await deps.turns.listTranscript(runId);
  const messages = await writeTranscript(deps.blobs, transcripts, transcript);
  if (messages.outcome === 'rejected') throw new Error(cannotRestore(messages.reason));
  // An agent can neither continue an empty conversation nor start another one with its ID.
  const name = transcriptName(runId);
  if (!(await hasConversation(transcripts, name))) await removeTree(join(transcripts, name));
  await writeFile(done, '', { mode: 0o600 });
  return true;
}

/** The entries formed a valid tree when they were stored, and no agent runs now. */
const cannotRestore = (reason: string): string => `cannot restore the session's files: ${reason}`;
