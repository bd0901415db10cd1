import type { Admission, AdmitRun } from '../../systems/postgres/admission/admission.ts';
import type { ApiDeps } from '../deps.ts';
import { retryWhileIgnoreChanges, storeContents } from '../files/classify-files.ts';
import type { DecodedFile } from '../files/input-files.ts';

type FileDeps = Pick<ApiDeps, 'blobs' | 'flowFiles'>;

/** Admits a run with its input files, or stores nothing if it is rejected. */
export async function admitRun(
  deps: FileDeps & Pick<ApiDeps, 'admission'>,
  input: AdmitRun,
  files: DecodedFile[],
): Promise<Admission> {
  if (files.length === 0) return deps.admission.admitRun(input);
  const { admission } = deps;
  const request = { flowId: input.flowId, files };
  const dryRun = await retryWhileIgnoreChanges(deps, request, (inputFiles) =>
    admission.dryRunWithFiles(input, inputFiles),
  );
  if (dryRun.outcome !== 'admitted') return dryRun;
  await storeContents(deps, files);
  return retryWhileIgnoreChanges(deps, request, (inputFiles) =>
    admission.admitWithFiles(input, inputFiles),
  );
}
