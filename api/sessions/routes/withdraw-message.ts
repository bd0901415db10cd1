import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { messageNotQueued, notFound } from '../../errors.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadSession } from '../load-session.ts';
import { messageParams, withdrawnMessage } from '../message-schema.ts';

const schema = {
  operationId: 'withdrawMessage',
  summary: 'Withdraw a queued message',
  description:
    'The message gets no turn, and its text is deleted. Requests that wait for its turn get the error `withdrawn`. A message that an agent may have received cannot be withdrawn: the response is 409 `MESSAGE_NOT_QUEUED`.',
  params: messageParams,
  querystring: noQuery,
  response: {
    200: enveloped(withdrawnMessage),
    ...errors(400, 401, 403, 404, 409, 429, 500, 503),
  },
};

/** Safe to repeat. */
export function withdrawMessage(app: App, deps: ApiDeps): void {
  const path = '/api/v1/flows/:flowId/sessions/:sessionId/messages/:messageId';
  app.delete(path, { config: forKeys('chat'), schema }, async (request) => {
    const { sessionId, messageId } = request.params;
    const { runId } = (await loadSession(deps, request, sessionId)).run;
    const outcome = await deps.messages.withdraw(runId, messageId, authorOf(request));
    if (outcome === 'unknown') throw notFound('Message');
    if (outcome === 'not_queued') throw messageNotQueued();
    if (outcome === 'withdrawn') {
      // Readers of the stream, and requests that wait for the turn. Both poll if this fails.
      void deps.frameStream.notify(runId);
      request.log.info({ runId, messageId }, 'message_withdrawn');
    }
    return { data: { sessionId, runId, messageId, withdrawn: true as const } };
  });
}
