import type { AuditActor } from '../../core/audit/audit-entry.ts';
import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ScopedFile } from '../../systems/postgres/files/input-files.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { checkStorage } from './check-storage.ts';
import {
  type FileTarget,
  labelOf,
  retryWhileIgnoreChanges,
  storeContents,
} from './classify-files.ts';
import { activeHostOf, sandboxUnavailable } from './host-files.ts';

interface AddedFiles {
  files: ScopedFile[];
  /** True if they wait for the session's next turn. */
  arePending: boolean;
}

interface FilesToAdd extends Omit<FileTarget, 'flowId'> {
  author: AuditActor | undefined;
}

/**
 * Writes to the run's directory first and to the flow's files afterwards, so a file that cannot be
 * written does not reach later runs. An interrupted request is safe to repeat. For a session
 * without a sandbox, the files are written at its next turn. The entry in the audit log is stored
 * before a host can write, so it remains if the directory rejects the files.
 */
export async function addFiles(
  deps: ApiDeps,
  run: Run,
  { files, mayChangeFlow, changedBy, author }: FilesToAdd,
): Promise<AddedFiles> {
  if (run.endedAt !== null) throw runHasEnded();
  if (activeHostOf(run) === null && !canWait(run)) throw sandboxUnavailable();

  const { runId, flowId } = run;
  const toClassify = { flowId, files, mayChangeFlow, changedBy };
  await checkStorage(deps, run.projectId);
  await retryWhileIgnoreChanges(deps, toClassify, (classified) =>
    deps.flowFiles.check(flowId, classified),
  );
  await storeContents(deps, run.projectId, files);
  const unrecorded = activeHostOf(run) === null ? author : undefined;
  const arePending = (await writeNow(deps, run, { files, author })) === 'pending';
  failpoint('files.written');
  const added = await retryWhileIgnoreChanges(deps, toClassify, async (classified) => {
    const target = { runId, flowId, arePending, author: unrecorded };
    const answer = await deps.flowFiles.add(target, classified);
    return answer.outcome === 'added' ? { ...answer, files: classified.files } : answer;
  });
  return { files: added.files, arePending };
}

/** A session continues in another sandbox; a plain run has only one. */
const canWait = ({ sessionId, endCause }: Run): boolean => sessionId !== null && endCause === null;

/** `pending`: no sandbox exists, and the session's next one gets the files. */
async function writeNow(
  deps: ApiDeps,
  run: Run,
  added: Pick<FilesToAdd, 'files' | 'author'>,
): Promise<'written' | 'pending'> {
  const { files } = added;
  if (activeHostOf(run) !== null && (await writeToHost(deps, run, added)) === 'written') {
    return 'written';
  }
  const now = await deps.runs.find(run.runId);
  if (now === null || now.endedAt !== null) throw runHasEnded();
  if (!canWait(now)) throw sandboxUnavailable();
  const paths = files.map(({ path }) => path);
  const blocked = await deps.files.findPathConflict(run.runId, paths);
  if (blocked !== null) {
    throw invalid(`${labelOf(files, blocked.path)}: conflicts with ${blocked.other}`);
  }
  return 'pending';
}

const runHasEnded = () =>
  invalid('The run has ended. Files cannot be added to its working directory.');

/** `gone`: the sandbox no longer exists on the host. */
async function writeToHost(
  deps: ApiDeps,
  run: Run,
  { files, author }: Pick<FilesToAdd, 'files' | 'author'>,
): Promise<'written' | 'gone'> {
  const hostId = activeHostOf(run);
  if (hostId === null) throw sandboxUnavailable();
  const payload = {
    files: files.map(({ path, sha256, size, mode }) => ({ path, sha256, size, mode })),
  };
  const response = await deps.hostRpc.call(
    { hostId, run, kind: 'write_files', payload, author },
    { timeoutMs: limits.hostRpc.filesTimeoutMs },
  );
  if (response.outcome === 'timeout') throw sandboxUnavailable();
  const { result } = response;
  if (result.outcome === 'rejected') {
    throw invalid(`${labelOf(files, result.path)}: cannot be written: ${result.reason}`);
  }
  return result.outcome;
}
