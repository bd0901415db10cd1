import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import type { UnfinishedMessage } from '../../../systems/postgres/sessions/unfinished-messages.ts';
import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { readPage } from '../../http/pagination.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { pageByIdQuery } from '../../schemas/page-query.ts';
import { loadSession } from '../load-session.ts';
import { unfinishedMessage } from '../message-schema.ts';
import { sessionParams } from '../session-schema.ts';

const schema = {
  operationId: 'listMessages',
  summary: 'Queued messages of a session and the one in progress, in order',
  params: sessionParams,
  querystring: pageByIdQuery,
  response: {
    200: enveloped(z.array(unfinishedMessage)),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

const maxBytes = limits.page.runsMaxBytes;
const config = { ...forKeys('read'), answerMaxBytes: maxBytes };

/** Lists at most the message in progress and a full queue. */
export function listMessages(app: App, deps: ApiDeps): void {
  const path = '/api/v1/flows/:flowId/sessions/:sessionId/messages';
  app.get(path, { config, schema }, async (request, reply) => {
    const { flowId, sessionId } = request.params;
    const { run } = await loadSession(deps, request, sessionId);
    const url = `${apiUrlOf(request, deps)}/flows/${flowId}/sessions/${sessionId}/messages`;
    const { messages } = await readPage(reply, { url, query: request.query }, (range) =>
      deps.messages.listUnfinished(run.runId, { ...range, maxBytes }),
    );
    return { data: messages.map(messageView) };
  });
}

function messageView({ isDelivered, createdAt, ...message }: UnfinishedMessage) {
  const { messageId, position, text } = message;
  return {
    messageId,
    position,
    state: isDelivered ? ('in_progress' as const) : ('queued' as const),
    text,
    createdAt: createdAt.toISOString(),
  };
}
