import type { FastifyReply, FastifyRequest } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import type { Admission, AdmitRun } from '../../systems/postgres/admission/admission.ts';
import type { ApiDeps } from '../deps.ts';
import type { DecodedFile } from '../files/input-files.ts';
import { waitForClient, withClientSignal } from '../http/client-signal.ts';
import { publicPath } from '../http/public-path.ts';
import { admissionError } from './admission-error.ts';
import { admitRun } from './admit-run.ts';
import { freeProjectSlot, retryAfterEviction } from './free-project-slot.ts';
import type { WaitForEnd } from './run-end-waiter.ts';
import { deletedRunView, runPath, runView } from './run-view.ts';
import type { WorkflowClient } from './workflow-client.ts';

export interface RunStart {
  admission: AdmitRun;
  files: DecodedFile[];
  /** How long the answer may wait for the run's end. */
  waitSeconds: number | undefined;
}

/** Admits a run, starts its workflow, and says so; or throws what the gates refuse it for. */
export type StartRun = (
  request: Pick<FastifyRequest, 'id' | 'log'>,
  reply: FastifyReply,
  run: RunStart,
) => Promise<{ data: ReturnType<typeof runView> | ReturnType<typeof deletedRunView> }>;

interface Helpers {
  workflows: WorkflowClient;
  waitForEnd: WaitForEnd;
  closing: AbortSignal;
}

export function createStartRun(deps: ApiDeps, helpers: Helpers): StartRun {
  const { workflows, ...waiting } = helpers;
  return async (request, reply, { admission: wanted, files, waitSeconds = 0 }) => {
    failpoint('trigger.asked');
    const admission = await retryAfterEviction(
      () => admitRun(deps, wanted, files),
      (given) => given.outcome === 'rejected' && given.reason === 'CONCURRENT_LIMIT',
      () =>
        withClientSignal(reply, helpers.closing, (signal) =>
          freeProjectSlot(deps, workflows, { projectId: wanted.projectId, signal }),
        ),
    );
    if (admission.outcome === 'admitted') failpoint('trigger.admitted');
    deps.metrics.runDecided(
      admission.outcome === 'rejected' ? admission.reason : admission.outcome,
    );
    logDecision(request, reply, { wanted, admission });
    if (admission.outcome === 'admitted') {
      await workflows.start(admission.run);
    }
    const settled = await waitForEnd(waitSeconds, { admission, deps, request, reply, ...waiting });
    return answer(reply, settled, deps.publicUrl);
  };
}

/** Whatever becomes of the answer, this stands from here on. */
function logDecision(
  request: Pick<FastifyRequest, 'id' | 'log'>,
  reply: FastifyReply,
  { wanted, admission }: { wanted: AdmitRun; admission: Admission },
): void {
  const { flowId, projectId } = wanted;
  const asked = { requestId: request.id, flowId, projectId };
  const afterMs = Math.round(reply.elapsedTime);
  if (admission.outcome === 'rejected') {
    const { reason: code, limit, current } = admission;
    request.log.info({ ...asked, code, limit, current, afterMs }, 'run_rejected');
    return;
  }
  const { runId, hostId } = admission.run;
  const event = admission.outcome === 'admitted' ? 'run_admitted' : 'run_replayed';
  request.log.info({ ...asked, runId, hostId, afterMs }, event);
}

interface Waiting {
  admission: Admission;
  deps: ApiDeps;
  request: Pick<FastifyRequest, 'log'>;
  reply: FastifyReply;
}

/** The same admission with the run as it is when it has ended, or when the time is up. */
async function waitForEnd(
  seconds: number,
  given: Waiting & Omit<Helpers, 'workflows'>,
): Promise<Admission> {
  const { admission, deps, request, reply, waitForEnd: untilEnded, closing } = given;
  if (seconds === 0 || admission.outcome === 'rejected') return admission;
  const { runId, endedAt, deletedAt } = admission.run;
  if (endedAt !== null || deletedAt !== null) return admission;
  const ms = seconds * 1_000;
  await waitForClient(reply, closing, (signal) => untilEnded(runId, { ms, signal }));
  // It is admitted: an answer that fails now would have it triggered once more.
  const now = await deps.runs.find(runId).catch((err: unknown) => {
    request.log.warn({ err, runId }, 'run_read_failed');
    return null;
  });
  return { ...admission, run: now ?? admission.run };
}

function answer(reply: FastifyReply, admission: Admission, publicUrl: string) {
  switch (admission.outcome) {
    case 'admitted':
      reply.code(201).header('location', publicPath(publicUrl, runPath(admission.run.runId)));
      return { data: runView(admission.run, publicUrl) };
    case 'replay': {
      reply.header('idempotency-replayed', 'true');
      const { run } = admission;
      return { data: run.deletedAt === null ? runView(run, publicUrl) : deletedRunView(run) };
    }
    case 'rejected':
      throw admissionError(admission);
  }
}
