import type { FastifyReply, FastifyRequest } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import type { Flow } from '../../core/flow.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/run.ts';
import { emptyRunConfig } from '../../core/run-config.ts';
import type { Admission, AdmitRun, Refusal } from '../../systems/postgres/admission.ts';
import { type App, type Caller, callerOf } from '../app-types.ts';
import { checkCallbackUrl } from '../callback-url.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { loadFlow } from '../load-run.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { deletedRun, flowParams, noQuery, runRecord } from '../schemas/run.ts';
import { type TriggerBody, triggerBody, triggerHeaders } from '../schemas/trigger.ts';
import { deletedRunView, runPath, runView } from '../views/run-view.ts';
import type { WorkflowCalls } from '../workflow-calls.ts';

const schema = {
  operationId: 'triggerRun',
  summary: 'Trigger a run of a flow',
  params: flowParams,
  querystring: noQuery,
  headers: triggerHeaders,
  body: triggerBody,
  response: {
    201: enveloped(runRecord),
    200: enveloped(runRecord.or(deletedRun)),
    ...errors(400, 401, 403, 404, 409, 413, 415, 429, 500, 503),
  },
};

export function triggerRun(app: App, deps: ApiDeps, workflows: WorkflowCalls): void {
  const url = '/api/v1/flows/:flowId/runs';
  app.post(url, { schema, bodyLimit: limits.requestBodyMaxBytes }, async (request, reply) => {
    const { body } = request;
    const idempotencyKey = oneKey(request.headers['idempotency-key'], body.idempotencyKey);
    if (body.callbackUrl !== undefined) checkCallbackUrl(body.callbackUrl, deps.mayCall);
    const caller = callerOf(request);
    const flow = await loadFlow(deps, request.params.flowId, caller.key.projectId);

    const wanted = wantedRun(deps, { caller, flow, body, idempotencyKey });
    failpoint('trigger.asked');
    const admission = await deps.admission.admitRun(wanted);
    if (admission.outcome === 'admitted') failpoint('trigger.admitted');
    if (admission.outcome === 'admitted') {
      noteAdmitted(request, reply, admission.run);
      await workflows.start(admission.run);
    }
    return answer(reply, admission, deps.publicUrl);
  });
}

/** The run exists from here on, whatever becomes of the answer. */
function noteAdmitted(request: FastifyRequest, reply: FastifyReply, run: Run): void {
  const { runId, flowId, projectId, hostId } = run;
  const afterMs = Math.round(reply.elapsedTime);
  request.log.info(
    { requestId: request.id, runId, flowId, projectId, hostId, afterMs },
    'run_admitted',
  );
}

/** Header and field are two ways to say one thing. */
function oneKey(header: string | undefined, field: string | undefined): string | null {
  if (header !== undefined && field !== undefined && header !== field) {
    throw invalid('body.idempotencyKey: differs from the Idempotency-Key header');
  }
  return header ?? field ?? null;
}

interface Wanted {
  caller: Caller;
  flow: Flow;
  body: TriggerBody;
  idempotencyKey: string | null;
}

function wantedRun(deps: ApiDeps, { caller, flow, body, idempotencyKey }: Wanted): AdmitRun {
  const prompt = body.prompt ?? flow.prompt;
  if (!prompt) throw invalid('body.prompt: is needed, since the flow has no prompt of its own');
  return {
    runId: deps.newId(),
    flowId: flow.flowId,
    projectId: flow.projectId,
    triggerType: 'api',
    keyId: caller.key.keyId,
    keyName: caller.key.name,
    keyCreatedBy: caller.key.createdBy,
    prompt,
    name: body.name ?? null,
    labels: body.labels ?? {},
    partialMessages: body.partialMessages ?? false,
    callbackUrl: body.callbackUrl ?? null,
    idempotencyKey,
    timeoutSeconds: flow.timeoutSeconds ?? Math.ceil(deps.runTimeoutMs / 1_000),
    config: emptyRunConfig,
  };
}

function answer(reply: FastifyReply, admission: Admission, publicUrl: string) {
  switch (admission.outcome) {
    case 'admitted':
      reply.code(201).header('location', runPath(admission.run.runId));
      return { data: runView(admission.run, publicUrl) };
    case 'replay': {
      reply.header('idempotency-replayed', 'true');
      const { run } = admission;
      return { data: run.deletedAt === null ? runView(run, publicUrl) : deletedRunView(run) };
    }
    case 'refused':
      throw refusalError(admission);
  }
}

function refusalError({ reason, limit, current }: Refusal): ApiError {
  if (limit === undefined || current === undefined) return new ApiError(reason, messages[reason]);
  return new ApiError(reason, messages[reason], { limit, current });
}

const messages: Record<Refusal['reason'], string> = {
  RUNNER_OFFLINE: 'The host that this flow is bound to is offline.',
  CONCURRENT_LIMIT: 'The project has as many runs as it may have at once.',
  MONTHLY_QUOTA: "The project's runs of this month are used up.",
};
