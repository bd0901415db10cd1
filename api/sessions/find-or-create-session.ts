import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { FlowOutline } from '../../core/flows/flow.ts';
import { serviceServerName } from '../../core/runs/child-runs.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import { sessionIdTaken } from '../errors.ts';
import { admissionError, restoreNotReconciled } from '../runs/admission-error.ts';
import { creatorOf } from '../runs/admission-request.ts';
import { checkCallbackUrl } from '../runs/check-callback-url.ts';
import { parseContextHeaders } from '../runs/context-headers.ts';
import { runConfigOf } from '../runs/run-config.ts';
import type { WorkflowClient } from '../runs/workflow-client.ts';
import type { SessionBody } from './session-schema.ts';

interface SessionRequest {
  request: FastifyRequest;
  flow: FlowOutline;
  body: SessionBody;
}

type SessionDeps = Pick<
  ApiDeps,
  | 'acceptedIds'
  | 'isCallbackAddressAllowed'
  | 'newId'
  | 'postgresDisk'
  | 'runTimeoutMs'
  | 'sessions'
>;

interface OpenedSession extends Run {
  sessionId: string;
  /** True if the session existed before. */
  isResumed: boolean;
}

/**
 * Finds the session with this ID or creates it; no sandbox is started. An existing session is not
 * changed, and an ended one is not reopened.
 */
export async function findOrCreateSession(
  deps: SessionDeps,
  workflows: Pick<WorkflowClient, 'start'>,
  { request, flow, body }: SessionRequest,
): Promise<OpenedSession> {
  const { callbackUrl = null } = body;
  if (callbackUrl !== null) checkCallbackUrl(callbackUrl, deps.isCallbackAddressAllowed);
  const config = runConfigOf(body, parseContextHeaders(request.headers));
  const { log } = request;
  const sessionId = body.sessionId ?? deps.newId();
  const newRunId = deps.newId();
  const opening = await deps.sessions.open({
    runId: newRunId,
    sessionId,
    hasClientId: body.sessionId !== undefined,
    flowId: flow.flowId,
    projectId: flow.projectId,
    ...creatorOf(request),
    name: body.name ?? null,
    labels: body.labels ?? {},
    partialMessages: body.partialMessages ?? false,
    callbackUrl,
    timeoutSeconds: flow.timeoutSeconds ?? Math.ceil(deps.runTimeoutMs / 1_000),
    model: flow.model,
    mcpServerNames: serverNamesOf(flow, config),
    config,
    isPostgresDiskShort: deps.postgresDisk.isShort(),
  });
  const run = openedOrThrow(opening, { flow, log });
  const isResumed = run.runId !== newRunId;
  if (!isResumed) {
    const { runId, flowId, projectId } = run;
    deps.acceptedIds.add(runId);
    log.info({ runId, sessionId, flowId, projectId }, 'session_opened');
  }
  if (run.deletedAt !== null || run.endCause !== null) throw sessionIdTaken();
  if (run.workflowStartedAt === null) workflows.start(run);
  return { ...run, sessionId, isResumed };
}

type Opening = Awaited<ReturnType<ApiDeps['sessions']['open']>>;

function openedOrThrow(
  opening: Opening,
  { flow, log }: Pick<SessionRequest, 'flow'> & { log: FastifyBaseLogger },
): Run {
  if (opening === 'reconciling') throw restoreNotReconciled();
  if (!('reason' in opening)) return opening;
  const { flowId, projectId } = flow;
  const { reason: code, limit, current } = opening;
  log.info({ flowId, projectId, code, limit, current }, 'session_rejected');
  throw admissionError(opening);
}

function serverNamesOf(
  flow: Pick<FlowOutline, 'mcpServerNames' | 'childRuns'>,
  { mcpMode, mcpServers }: ReturnType<typeof runConfigOf>,
): string[] {
  const service = flow.childRuns === null ? [] : [serviceServerName];
  const fromFlow = mcpMode === 'merge' ? [...flow.mcpServerNames, ...service] : [];
  return [...new Set([...fromFlow, ...Object.keys(mcpServers)])].sort();
}
