import type { FastifyRequest } from 'fastify';
import type { FlowOutline } from '../../../core/flows/flow.ts';
import { limits } from '../../../core/limits.ts';
import { type App, accessOf, callerOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { apiPathOf, apiUrlOf, publicPath } from '../../http/public-path.ts';
import { checkFlowScope, flowOf } from '../../runs/load-run.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { streamUrl } from '../../runs/run-view.ts';
import { triggerHeaders } from '../../runs/trigger-schema.ts';
import type { WorkflowClient } from '../../runs/workflow-client.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { derivedSessionId } from '../derived-session-id.ts';
import { findOrCreateSession } from '../find-or-create-session.ts';
import { sessionBody, sessionOpened } from '../session-schema.ts';

const schema = {
  operationId: 'openSession',
  summary: 'Open or resolve a session and get its stream URL',
  description:
    'No sandbox is started. Without a `sessionId` a new session is opened; as long as that session exists, a request with the same `Idempotency-Key` returns it. The request does not change the name, labels, callback URL and configuration of an existing session, and the response has the header `Session-Resumed`. Change its configuration with `PATCH …/sessions/{sessionId}/config`. An ended session is not reopened: the response is 404, and its ID cannot be used again until 24 hours after the session was deleted.',
  params: flowParams,
  querystring: noQuery,
  headers: triggerHeaders,
  body: sessionBody,
  response: {
    201: enveloped(sessionOpened),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

export function openSession(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  const url = '/api/v1/flows/:flowId/sessions';
  app.post(
    url,
    { config: forKeys('chat'), schema, bodyLimit: limits.http.mediumBodyMaxBytes },
    async (request, reply) => {
      const flow = flowToOpen(request);
      const key = request.headers['idempotency-key'];
      const keyed =
        key === undefined ? {} : { sessionId: derivedSessionId('keyed', { ...flow, key }) };
      const body = { ...keyed, ...request.body };
      const session = await findOrCreateSession(deps, workflows, { request, flow, body });
      const { runId, isResumed } = session;
      if (isResumed) reply.header('session-resumed', 'true');
      reply
        .code(201)
        .header('location', publicPath(deps.publicUrl, `${apiPathOf(request)}/runs/${runId}`));
      return {
        data: {
          sessionId: session.sessionId,
          runId,
          streamUrl: streamUrl(runId, apiUrlOf(request, deps)),
        },
      };
    },
  );
}

/** For a flow of another project this route answers 404. */
function flowToOpen(request: FastifyRequest): FlowOutline {
  if (request.operator !== null) return flowOf(request);
  const { flow, key } = callerOf(request);
  if (flow?.projectId !== key.projectId) throw notFound('Flow');
  checkFlowScope(accessOf(request).flowIds, flow.flowId);
  return flow;
}
