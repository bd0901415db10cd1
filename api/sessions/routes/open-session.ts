import { limits } from '../../../core/limits.ts';
import { type App, callerOf } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { publicPath } from '../../http/public-path.ts';
import { parseContextHeaders } from '../../runs/context-headers.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { runPath, streamUrl } from '../../runs/run-view.ts';
import type { WorkflowClient } from '../../runs/workflow-client.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { findOrCreateSession } from '../find-or-create-session.ts';
import { sessionBody, sessionOpened } from '../session-schema.ts';

const schema = {
  operationId: 'openSession',
  summary: 'Open a conversation, or resolve one, and learn where to watch it',
  description:
    'Nothing runs yet. Of a session that is there already nothing changes, whatever else is sent: it keeps its name, its labels and its configuration, and the answer says so by the header `Session-Resumed`. Its configuration is rotated with `PATCH …/sessions/{sessionId}/config`. One that has ended is not opened again (404): its id stays taken until a day after it was deleted, and another has to be chosen.',
  params: flowParams,
  querystring: noQuery,
  body: sessionBody,
  response: {
    201: enveloped(sessionOpened),
    ...errors(400, 401, 404, 413, 415, 429, 500, 503),
  },
};

/** A flow of another project does not exist here. */
export function openSession(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  const url = '/api/v1/flows/:flowId/sessions';
  app.post(url, { schema, bodyLimit: limits.requestBodyMaxBytes }, async (request, reply) => {
    const caller = callerOf(request);
    const flow = await deps.flows.find(request.params.flowId);
    if (flow?.projectId !== caller.key.projectId) throw notFound('Flow');
    const { body, headers, id: requestId, log } = request;
    const opening = { caller, flow, body, context: parseContextHeaders(headers), requestId, log };
    const { sessionId, runId, isResumed } = await findOrCreateSession(deps, workflows, opening);
    if (isResumed) reply.header('session-resumed', 'true');
    reply.code(201).header('location', publicPath(deps.publicUrl, runPath(runId)));
    return { data: { sessionId, runId, streamUrl: streamUrl(runId, deps.publicUrl) } };
  });
}
