import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import { ApiError } from '../../errors.ts';
import { errors } from '../../schemas/envelope.ts';

/** Runs are not interactive. Answers every key the same for every ID, before it reads the body. */
export function postMessage(app: App): void {
  app.route({
    method: 'POST',
    url: '/api/v1/runs/:runId/messages',
    config: { ...forKeys('read', 'run', 'chat'), skipsIdCheck: true },
    schema: {
      operationId: 'postMessage',
      summary: 'Retired: use the chat endpoint of a flow',
      deprecated: true,
      response: errors(401, 410, 429),
    },
    onRequest: retired,
    handler: retired,
  });
}

async function retired(): Promise<never> {
  const message = 'Runs do not accept messages. Use POST /api/v1/flows/{flowId}/chat.';
  throw new ApiError('ENDPOINT_RETIRED', message);
}
