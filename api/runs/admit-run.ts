import type { Admission, AdmitRun } from '../../systems/postgres/admission/admission.ts';
import type { FileConflict, InputFiles } from '../../systems/postgres/files/input-files.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { classifyFiles, storeContents } from '../files/classify-files.ts';
import type { DecodedFile } from '../files/input-files.ts';

type FileDeps = Pick<ApiDeps, 'blobs' | 'flowFiles'>;

/** Admits a run together with the files that its request brings; refused, it has stored nothing. */
export async function admitRun(
  deps: FileDeps & Pick<ApiDeps, 'admission'>,
  wanted: AdmitRun,
  files: DecodedFile[],
): Promise<Admission> {
  if (files.length === 0) return deps.admission.admitRun(wanted);
  const { admission } = deps;
  const request = { flowId: wanted.flowId, files };
  const foreseen = await retryWhileIgnoreChanges(deps, request, (given) =>
    admission.dryRunWithFiles(wanted, given),
  );
  if (foreseen.outcome !== 'admitted') return foreseen;
  await storeContents(deps, files);
  return retryWhileIgnoreChanges(deps, request, (given) => admission.admitWithFiles(wanted, given));
}

const attemptsMax = 5;

/** Decides the scopes again for as long as the flow's `.flowignore` changes meanwhile. */
export async function retryWhileIgnoreChanges<T extends { outcome: string }>(
  deps: FileDeps,
  { flowId, files }: { flowId: string; files: DecodedFile[] },
  give: (given: InputFiles) => Promise<T | FileConflict>,
): Promise<T> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const answer = await give(await classifyFiles(deps, flowId, files));
    if (!isRejection(answer)) return answer;
    if (answer.outcome !== 'stale') throw rejectionError(answer, files);
  }
  throw new ApiError('UPSTREAM_UNAVAILABLE', "The flow's .flowignore keeps changing.");
}

function isRejection(answer: { outcome: string }): answer is FileConflict {
  return ['stale', 'full', 'in_the_way'].includes(answer.outcome);
}

function rejectionError(
  refusal: Exclude<FileConflict, { outcome: 'stale' }>,
  files: DecodedFile[],
): ApiError {
  if (refusal.outcome === 'full') {
    const { what, limit, current } = refusal;
    return invalid(`body.files: the flow's files would be over its limit of ${what}`, {
      limit,
      current,
    });
  }
  const index = files.findIndex(({ path }) => path === refusal.path);
  return invalid(`body.files.${index}.path: the flow has the file ${refusal.other} in its way`);
}
