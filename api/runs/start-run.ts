import type { FastifyReply, FastifyRequest } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import { startChannel, startSubject } from '../../core/hosts/host-rpc.ts';
import type { Run } from '../../core/runs/run.ts';
import type { Admission } from '../../systems/postgres/admission/admission.ts';
import type { AdmitRun } from '../../systems/postgres/admission/admit-run.ts';
import type { Access } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { retryWhileIgnoreChanges, storeContents } from '../files/classify-files.ts';
import type { DecodedFile } from '../files/input-files.ts';
import { waitForClient } from '../http/client-signal.ts';
import { apiPathOf, publicPath } from '../http/public-path.ts';
import { admissionError } from './admission-error.ts';
import { createEvictAtLimit } from './evict-at-limit.ts';
import { checkFlowScope } from './load-run.ts';
import type { WaitForEnd } from './run-end-waiter.ts';
import { deletedRunView, runView } from './run-view.ts';
import type { WorkflowClient } from './workflow-client.ts';

interface RunStart {
  admission: AdmitRun;
  files: DecodedFile[];
  /** How long the response may wait for the run's end. */
  waitSeconds: number | undefined;
  /** An idempotency key may name a run of another flow, which the caller must be able to reach. */
  flowIds: Access['flowIds'];
}

/**
 * Admits a run and answers, or throws the error of a rejection. The run's workflow is started while
 * the client is answered.
 */
export type StartRun = (
  request: Pick<FastifyRequest, 'id' | 'log' | 'operator' | 'params'>,
  reply: FastifyReply,
  run: RunStart,
) => Promise<{ data: ReturnType<typeof runView> | ReturnType<typeof deletedRunView> }>;

interface Helpers {
  workflows: WorkflowClient;
  waitForEnd: WaitForEnd;
  closing: AbortSignal;
}

export function createStartRun(deps: ApiDeps, helpers: Helpers): StartRun {
  const { workflows, ...rest } = helpers;
  return async (request, reply, { admission: wanted, files, waitSeconds = 0, flowIds }) => {
    failpoint('trigger.received');
    const input = { ...wanted, isPostgresDiskShort: deps.postgresDisk.isShort() };
    const { projectId } = input;
    const eviction = { projectId, workflows, reply, closing: helpers.closing };
    const evictAtLimit = createEvictAtLimit(deps, eviction);
    let admission = await admitRun(deps, input, files);
    while (await evictAtLimit(admission)) admission = await admitRun(deps, input, files);
    if (admission.outcome === 'admitted') failpoint('trigger.admitted');
    if (admission.outcome === 'replay') checkFlowScope(flowIds, admission.run.flowId);
    deps.metrics.runDecided(
      admission.outcome === 'rejected' ? admission.reason : admission.outcome,
    );
    logDecision(request, reply, { input, admission });
    if (admission.outcome === 'admitted') {
      deps.acceptedIds.add(admission.run.runId);
      hintStart(deps, admission.run);
      workflows.start(admission.run);
    }
    const result = await withEnd(waitSeconds, { admission, deps, request, reply, ...rest });
    const { publicUrl } = deps;
    return toResponse(reply, result, { publicUrl, apiPath: apiPathOf(request) });
  };
}

/** The host of the run may start its sandbox while the workflow is being started. */
function hintStart(
  { notifications }: Pick<ApiDeps, 'notifications'>,
  { runId, generation, hostId }: Run,
): void {
  if (hostId === null) return;
  notifications.notify(startChannel(hostId), startSubject({ runId, generation }));
}

/** Admits a run with its input files, or stores nothing if it is rejected. */
async function admitRun(
  deps: Pick<ApiDeps, 'admission' | 'blobs' | 'flowFiles'>,
  input: AdmitRun,
  files: DecodedFile[],
): Promise<Admission> {
  if (files.length === 0) return deps.admission.admitRun(input);
  const { admission } = deps;
  const request = { flowId: input.flowId, files, mayChangeFlow: true, changedBy: input.keyName };
  const dryRun = await retryWhileIgnoreChanges(deps, request, (inputFiles) =>
    admission.dryRunWithFiles(input, inputFiles),
  );
  if (dryRun.outcome !== 'admitted') return dryRun;
  await storeContents(deps, input.projectId, files);
  return retryWhileIgnoreChanges(deps, request, (inputFiles) =>
    admission.admitWithFiles(input, inputFiles),
  );
}

/** The decision is final, even if the answer never arrives. */
function logDecision(
  request: Pick<FastifyRequest, 'id' | 'log'>,
  reply: FastifyReply,
  { input, admission }: { input: AdmitRun; admission: Admission },
): void {
  const { flowId, projectId } = input;
  const fields = { requestId: request.id, flowId, projectId };
  const afterMs = Math.round(reply.elapsedTime);
  if (admission.outcome === 'rejected') {
    const { reason: code, limit, current } = admission;
    request.log.info({ ...fields, code, limit, current, afterMs }, 'run_rejected');
    return;
  }
  const { runId, hostId } = admission.run;
  const event = admission.outcome === 'admitted' ? 'run_admitted' : 'run_replayed';
  request.log.info({ ...fields, runId, hostId, afterMs }, event);
}

interface Waiting {
  admission: Admission;
  deps: ApiDeps;
  request: Pick<FastifyRequest, 'log'>;
  reply: FastifyReply;
}

/** Waits for the run's end, and returns the admission with the run's latest state. */
async function withEnd(
  seconds: number,
  waiting: Waiting & Omit<Helpers, 'workflows'>,
): Promise<Admission> {
  const { admission, deps, request, reply, waitForEnd, closing } = waiting;
  if (seconds === 0 || admission.outcome === 'rejected') return admission;
  const { runId, endedAt, deletedAt } = admission.run;
  if (endedAt !== null || deletedAt !== null) return admission;
  const ms = seconds * 1_000;
  await waitForClient(reply, closing, (signal) => waitForEnd(runId, { ms, signal }));
  // The run is admitted: an error now would make the client trigger another one.
  const latest = await deps.runs.find(runId).catch((err: unknown) => {
    request.log.warn({ err, runId }, 'run_read_failed');
    return null;
  });
  return { ...admission, run: latest ?? admission.run };
}

function toResponse(
  reply: FastifyReply,
  admission: Admission,
  { publicUrl, apiPath }: { publicUrl: string; apiPath: string },
) {
  const apiUrl = `${publicUrl}${apiPath}`;
  switch (admission.outcome) {
    case 'admitted':
      reply
        .code(201)
        .header('location', publicPath(publicUrl, `${apiPath}/runs/${admission.run.runId}`));
      return { data: runView(admission.run, apiUrl) };
    case 'replay': {
      reply.header('idempotency-replayed', 'true');
      const { run } = admission;
      return { data: run.deletedAt === null ? runView(run, apiUrl) : deletedRunView(run) };
    }
    case 'rejected':
      throw admissionError(admission);
  }
}
