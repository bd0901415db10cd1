import type { FastifyReply, FastifyRequest } from 'fastify';
import { limits } from '../../../core/limits.ts';
import { costUsdOf } from '../../../core/metering/call-cost.ts';
import type { Run } from '../../../core/runs/run.ts';
import { type App, accessOf, callerName } from '../../app-types.ts';
import { forKeysAndRunTokens } from '../../auth/callers.ts';
import { checkRun } from '../../auth/check-scopes.ts';
import type { ApiDeps } from '../../deps.ts';
import { checkMayAdd } from '../../files/classify-files.ts';
import { decodeFiles } from '../../files/input-files.ts';
import { waitForClient } from '../../http/client-signal.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { resolveIdempotencyKey } from '../../runs/idempotency-key.ts';
import { flowOf } from '../../runs/load-run.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { streamUrl } from '../../runs/run-view.ts';
import { triggerHeaders } from '../../runs/trigger-schema.ts';
import type { WorkflowClient } from '../../runs/workflow-client.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { derivedSessionId } from '../derived-session-id.ts';
import { findOrCreateSession } from '../find-or-create-session.ts';
import { loadSession } from '../load-session.ts';
import { sendMessage } from '../send-message.ts';
import { chatBody, messageQueued, turnAnswer } from '../session-schema.ts';
import { currentPosition, type WaitForTurnEnd } from '../turn-waiter.ts';

const schema = {
  operationId: 'chat',
  summary: 'Send a chat message',
  description:
    'One message is one turn and ends with one `turn_end`. Messages sent while the session starts, works, sleeps or changes its container are queued in order. If the session is unknown or has ended, the response is 404.',
  params: flowParams,
  querystring: noQuery,
  headers: triggerHeaders,
  body: chatBody,
  response: {
    200: enveloped(turnAnswer),
    202: enveloped(messageQueued),
    ...errors(400, 401, 403, 404, 409, 413, 415, 429, 500, 503),
  },
};

const config = { ...forKeysAndRunTokens('chat'), checksRun: true } as const;

/** `closing` ends every wait for a turn; the client then gets the 202 answer. */
export function chat(
  app: App,
  deps: ApiDeps,
  calls: { workflows: WorkflowClient; waitForTurnEnd: WaitForTurnEnd; closing: AbortSignal },
): void {
  const { workflows, closing } = calls;
  const url = '/api/v1/flows/:flowId/chat';
  app.post(
    url,
    { config, schema, bodyLimit: limits.http.largeBodyMaxBytes },
    async (request, reply) => {
      const { message: text, stream = true, sessionId } = request.body;
      const clientMessageId = resolveIdempotencyKey({
        header: request.headers['idempotency-key'],
        field: request.body.clientMessageId,
        at: 'body.clientMessageId',
      });
      const files = decodeFiles(request.body.files ?? []);
      const { mayChangeFlow } = accessOf(request);
      // A message that is refused opens no session.
      const { flowId } = flowOf(request);
      const changedBy = callerName(request);
      await checkMayAdd(deps, { flowId, files, mayChangeFlow, changedBy });
      const target = { request, sessionId, clientMessageId };
      const run = await resolveSession(deps, workflows, target);
      const message = { text, clientMessageId, files, mayChangeFlow, changedBy };
      const sent = await sendMessage(deps, workflows, {
        ...{ run, message },
        ...{ request, reply, closing },
      });

      const { runId } = run;
      const queued = { sessionId: run.sessionId, runId, messageId: sent.messageId };
      let { position } = sent;
      if (!stream) {
        const turn = await waitForTurn(deps, queued, { ...calls, reply });
        if (turn !== null) return { data: { ...queued, ...turn } };
        position = await currentPosition(deps, { ...queued, position }, request.log);
      }
      reply.code(202);
      return {
        data: { ...queued, streamUrl: streamUrl(runId, apiUrlOf(request, deps)), position },
      };
    },
  );
}

interface SessionTarget {
  request: FastifyRequest;
  sessionId: string | undefined;
  clientMessageId: string | null;
}

async function resolveSession(
  deps: ApiDeps,
  workflows: WorkflowClient,
  { request, sessionId, clientMessageId: key }: SessionTarget,
): Promise<Run & { sessionId: string }> {
  if (sessionId !== undefined) {
    const { run } = await loadSession(deps, request, sessionId);
    checkRun(request, run.runId);
    return { ...run, sessionId };
  }
  checkRun(request, null);
  const flow = flowOf(request);
  // A retried first message must find the session that it has opened.
  const body = key === null ? {} : { sessionId: derivedSessionId('first', { ...flow, key }) };
  return findOrCreateSession(deps, workflows, { request, flow, body });
}

interface TurnWait {
  reply: FastifyReply;
  closing: AbortSignal;
  waitForTurnEnd: WaitForTurnEnd;
}

async function waitForTurn(
  deps: ApiDeps,
  { runId, messageId }: { runId: string; messageId: string },
  { reply, closing, waitForTurnEnd }: TurnWait,
) {
  const ms = deps.chatWaitMs ?? limits.session.chatWaitMs;
  const end = await waitForClient(reply, closing, (signal) =>
    waitForTurnEnd({ runId, messageId }, { ms, signal }),
  );
  if (end === null) return null;
  const { exitCode, error, reply: text, usage } = end;
  const outcome = error === null ? { exitCode } : { exitCode, error };
  return { text: text ?? '', ...outcome, usage, costUsd: costUsdOf(end) };
}
