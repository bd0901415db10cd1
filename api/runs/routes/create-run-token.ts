import { z } from 'zod';
import { runTokenLimits } from '../../../core/keys/run-tokens.ts';
import { type App, accessOf, callerOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { noQuery, runParams } from '../run-schema.ts';

const { maxSeconds } = runTokenLimits;

const schema = {
  operationId: 'createRunToken',
  summary: 'Create a short-lived token for one run, for use in a browser',
  description:
    'The token can read and stream this run. If the run is a session, it can also send messages, answer questions and interrupt turns, if the scopes of the key permit it. Its requests count against the rate limit of the key. It becomes invalid when the key expires or is revoked.',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({
    expiresInSeconds: z
      .int()
      .min(1)
      .max(maxSeconds)
      .optional()
      .meta({ description: `Default: ${maxSeconds}.` }),
  }),
  response: {
    201: enveloped(
      z
        .object({
          token: z.string().meta({ description: 'The token. It is not shown again.' }),
          runId: z.uuid(),
          expiresAt: z.string().meta({ format: 'date-time' }),
        })
        .meta({ id: 'RunToken' }),
    ),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

/** A run token cannot create another one, so it does not outlive its expiry. */
export function createRunToken(app: App, deps: ApiDeps): void {
  const config = forKeys('read', 'chat');
  app.post('/api/v1/runs/:runId/token', { config, schema }, async (request, reply) => {
    const { runId } = await loadRun(deps, request.params.runId, accessOf(request));
    const { keyId } = callerOf(request).key;
    const { expiresInSeconds = maxSeconds } = request.body;
    const validMs = expiresInSeconds * 1_000;
    const { token, expiresAt } = await deps.runTokens.create({ keyId, runId, validMs });
    request.log.info({ keyId, runId, expiresAt }, 'run_token_created');
    reply.code(201);
    return { data: { token, runId, expiresAt: expiresAt.toISOString() } };
  });
}
