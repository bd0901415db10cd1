import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import { type App, projectOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { postgresDiskShort, storageQuotaUsedUp } from '../../runs/admission-error.ts';
import { loadRun } from '../../runs/load-run.ts';
import { noQuery, runParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { retryWhileIgnoreChanges, storeContents } from '../classify-files.ts';
import { fileEntry } from '../file-schema.ts';
import { fileView } from '../file-view.ts';
import { activeHostOf, sandboxUnavailable } from '../host-files.ts';
import { inputFiles } from '../input-file-schema.ts';
import { type DecodedFile, decodeFiles } from '../input-files.ts';

const schema = {
  operationId: 'injectFiles',
  summary: 'Add files to the working directory of a run that has not ended',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({ files: inputFiles.min(1) }),
  response: {
    200: enveloped(z.array(fileEntry)),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

/**
 * Writes to the run's directory first and to the flow's files after it: a file that cannot be
 * written changes nothing for later runs. An interrupted request is safe to repeat. For a session
 * without a sandbox the files are written at its next turn.
 */
export function injectFiles(app: App, deps: ApiDeps): void {
  const url = '/api/v1/runs/:runId/files';
  app.post(
    url,
    { config: forKeys, schema, bodyLimit: limits.http.largeBodyMaxBytes },
    async (request) => {
      const files = decodeFiles(request.body.files);
      const run = await loadRun(deps, request.params.runId, projectOf(request));
      if (run.endedAt !== null) throw runHasEnded();
      if (activeHostOf(run) === null && !canWait(run)) throw sandboxUnavailable();

      const { runId, flowId } = run;
      const target = { flowId, files };
      if (deps.postgresDisk.isShort()) throw postgresDiskShort();
      const quota = await deps.projects.usedUpQuota({ projectId: run.projectId });
      if (quota !== null) throw storageQuotaUsedUp(quota);
      await storeContents(deps, run.projectId, files);
      await retryWhileIgnoreChanges(deps, target, (classified) =>
        deps.flowFiles.check(flowId, classified),
      );
      const arePending = (await writeNow(deps, run, files)) === 'pending';
      const { scoped } = await retryWhileIgnoreChanges(deps, target, async (classified) => {
        const answer = await deps.flowFiles.add({ runId, flowId, arePending }, classified);
        return answer.outcome === 'added' ? { ...answer, scoped: classified.files } : answer;
      });
      request.log.info({ runId, files: files.length, arePending }, 'files_injected');
      const modifiedAt = deps.now();
      return { data: scoped.map((file) => fileView({ ...file, modifiedAt })) };
    },
  );
}

/** A session continues in another sandbox; a plain run has only one. */
const canWait = ({ sessionId, endCause }: Run): boolean => sessionId !== null && endCause === null;

/** `pending`: no sandbox exists, and the session's next one gets the files. */
async function writeNow(
  deps: ApiDeps,
  run: Run,
  files: DecodedFile[],
): Promise<'written' | 'pending'> {
  if (activeHostOf(run) !== null && (await writeToHost(deps, run, files)) === 'written') {
    return 'written';
  }
  const now = await deps.runs.find(run.runId);
  if (now === null || now.endedAt !== null) throw runHasEnded();
  if (!canWait(now)) throw sandboxUnavailable();
  const paths = files.map(({ path }) => path);
  const blocked = await deps.files.findPathConflict(run.runId, paths);
  if (blocked !== null) {
    const index = paths.indexOf(blocked.path);
    throw invalid(`body.files.${index}.path: conflicts with ${blocked.other}`);
  }
  return 'pending';
}

const runHasEnded = () =>
  invalid('The run has ended. Files cannot be added to its working directory.');

/** `gone`: the sandbox no longer exists on the host. */
async function writeToHost(
  deps: ApiDeps,
  run: Run,
  files: DecodedFile[],
): Promise<'written' | 'gone'> {
  const hostId = activeHostOf(run);
  if (hostId === null) throw sandboxUnavailable();
  const payload = {
    files: files.map(({ path, sha256, size, mode }) => ({ path, sha256, size, mode })),
  };
  const response = await deps.hostRpc.call(
    { hostId, run, kind: 'write_files', payload },
    { timeoutMs: limits.hostRpc.filesTimeoutMs },
  );
  if (response.outcome === 'timeout') throw sandboxUnavailable();
  const { result } = response;
  if (result.outcome === 'rejected') {
    const index = files.findIndex(({ path }) => path === result.path);
    throw invalid(`body.files.${index}.path: cannot be written: ${result.reason}`);
  }
  return result.outcome;
}
