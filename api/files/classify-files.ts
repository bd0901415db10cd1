import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ignoreName } from '../../core/files/file-entry.ts';
import { limits } from '../../core/limits.ts';
import type { FileConflict, InputFiles } from '../../systems/postgres/files/input-files.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError, invalid, outOfScope } from '../errors.ts';
import { matchIgnored } from './flow-ignore.ts';
import type { DecodedFile } from './input-files.ts';

/** Stores contents before any row refers to them. Unreferenced contents are removed later. */
export async function storeContents(
  { blobs }: Pick<ApiDeps, 'blobs'>,
  projectId: string,
  files: DecodedFile[],
): Promise<void> {
  const present = await blobs.has(files.map(({ sha256 }) => sha256));
  for (const { sha256, size, content } of files) {
    if (present.has(sha256)) continue;
    const owner = { of: { projectId }, kind: 'files' } as const;
    await blobs.put(Readable.from([content]), { sha256, size }, owner);
  }
}

export interface FileTarget {
  flowId: string;
  files: DecodedFile[];
  /** If false, a file of the flow is rejected. */
  mayChangeFlow: boolean;
  /** The name of the key, for the version of the flow. */
  changedBy: string;
}

/**
 * Splits files into those of the run and of its flow, by the request's `.flowignore` or the flow's.
 */
async function classifyFiles(
  deps: Pick<ApiDeps, 'blobs' | 'flowFiles'>,
  { flowId, files, mayChangeFlow, changedBy }: FileTarget,
): Promise<InputFiles> {
  const ignoreFile = files.find(({ path }) => path === ignoreName);
  const rules = ignoreFile
    ? { text: ignoreFile.content.toString(), classifiedBy: null }
    : await rulesOfFlow(deps, flowId);
  const ignored = matchIgnored(
    rules.text,
    files.map(({ path }) => path),
  );
  const ofFlow = files.find(({ path }) => !ignored.has(path));
  if (ofFlow !== undefined && !mayChangeFlow)
    throw outOfScope(`files of the flow: .flowignore does not match ${ofFlow.label}`);
  const scoped = files.map(({ path, sha256, size, mode }) => {
    return { path, sha256, size, mode, scope: ignored.has(path) ? 'run' : 'flow' } as const;
  });
  return { files: scoped, classifiedBy: rules.classifiedBy, changedBy };
}

/** Throws if the caller may not add a file, before anything is stored. */
export async function checkMayAdd(
  deps: Pick<ApiDeps, 'blobs' | 'flowFiles'>,
  target: FileTarget,
): Promise<void> {
  if (target.files.length > 0 && !target.mayChangeFlow) await classifyFiles(deps, target);
}

async function rulesOfFlow(
  { blobs, flowFiles }: Pick<ApiDeps, 'blobs' | 'flowFiles'>,
  flowId: string,
): Promise<{ text: string; classifiedBy: { sha256: string | null } }> {
  const found = await flowFiles.find(flowId, ignoreName);
  if (found === null) return { text: '', classifiedBy: { sha256: null } };
  const range = { end: limits.flow.ignoreMaxBytes };
  return {
    text: await text(Readable.from(blobs.read(found.sha256, range))),
    classifiedBy: { sha256: found.sha256 },
  };
}

const attemptsMax = 5;

/** Classifies files again as long as the flow's `.flowignore` changes concurrently. */
export async function retryWhileIgnoreChanges<T extends { outcome: string }>(
  deps: Pick<ApiDeps, 'blobs' | 'flowFiles'>,
  target: FileTarget,
  attempt: (inputFiles: InputFiles) => Promise<T | FileConflict>,
): Promise<T> {
  for (let count = 1; count <= attemptsMax; count += 1) {
    const answer = await attempt(await classifyFiles(deps, target));
    if (!isRejection(answer)) return answer;
    if (answer.outcome !== 'stale') throw rejectionError(answer, target.files);
  }
  throw new ApiError('UPSTREAM_UNAVAILABLE', "The flow's .flowignore keeps changing. Retry later.");
}

function isRejection(answer: { outcome: string }): answer is FileConflict {
  return ['stale', 'full', 'path_conflict'].includes(answer.outcome);
}

function rejectionError(
  conflict: Exclude<FileConflict, { outcome: 'stale' }>,
  files: DecodedFile[],
): ApiError {
  if (conflict.outcome === 'full') {
    const { what, limit, current } = conflict;
    return invalid(`body.files: the flow's files would exceed its limit of ${what}`, {
      limit,
      current,
    });
  }
  const label = labelOf(files, conflict.path);
  return invalid(`${label}: conflicts with the flow's file ${conflict.other}`);
}

export const labelOf = (files: DecodedFile[], path: string): string =>
  files.find((file) => file.path === path)?.label ?? path;
