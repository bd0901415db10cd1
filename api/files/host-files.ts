import type { FileEntry } from '../../core/files/file-entry.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { storageQuotaUsedUp } from '../runs/admission-error.ts';

type HostFileDeps = Pick<ApiDeps, 'files' | 'hostRpc' | 'runs'>;

/** The host whose disk has the latest files of a run; null if the stored ones are the latest. */
export function activeHostOf({ startedAt, endedAt, status, hostId }: Run): string | null {
  return startedAt !== null && endedAt === null && status === 'running' ? hostId : null;
}

export const sandboxUnavailable = () =>
  new ApiError('UPSTREAM_UNAVAILABLE', "The run's sandbox is temporarily unreachable. Retry.", {
    headers: { 'retry-after': '1' },
  });

/** Has the host store the current version of a file, and returns it; null if there is none. */
export async function fetchFile(
  deps: HostFileDeps,
  run: Run,
  path: string,
): Promise<Omit<FileEntry, 'scope'> | null> {
  const hostId = activeHostOf(run);
  if (hostId === null) return deps.files.find(run.runId, path);
  const response = await deps.hostRpc.call(
    { hostId, run, kind: 'store_file', payload: { path } },
    { timeoutMs: limits.hostRpc.filesTimeoutMs },
  );
  if (response.outcome === 'timeout') throw sandboxUnavailable();
  const { result } = response;
  switch (result.outcome) {
    case 'stored':
      return { ...result.file, modifiedAt: new Date(result.file.modifiedAt) };
    case 'missing':
      return null;
    case 'too_large': {
      const { size: current, limit } = result;
      throw invalid('The file is too large to download.', { limit, current });
    }
    case 'over_quota':
      throw storageQuotaUsedUp(result);
    case 'gone':
      return findAfterEnd(deps, run.runId, path);
  }
}

/** Stored files are final only after the end of the run. */
async function findAfterEnd(
  deps: HostFileDeps,
  runId: string,
  path: string,
): Promise<FileEntry | null> {
  const now = await deps.runs.find(runId);
  if (now !== null && now.endedAt === null) throw sandboxUnavailable();
  return deps.files.find(runId, path);
}

/** Has the host store all current files. If it cannot, the files stored before remain. */
export async function syncFiles(deps: HostFileDeps, run: Run): Promise<void> {
  const hostId = activeHostOf(run);
  if (hostId === null) return;
  await deps.hostRpc.call(
    { hostId, run, kind: 'store_files', payload: {} },
    { timeoutMs: limits.hostRpc.filesTimeoutMs },
  );
}
