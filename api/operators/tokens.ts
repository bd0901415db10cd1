import { z } from 'zod';
import { projectIdRule } from '../../core/field-rules.ts';
import {
  defaultTokenExpiry,
  operatorTokenLimits,
  tokenExpiryError,
} from '../../core/keys/operator-tokens.ts';
import type { OperatorToken } from '../../systems/postgres/accounts/operator-token-store.ts';
import type { App } from '../app-types.ts';
import { forSignedIn } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError, invalid } from '../errors.ts';
import { readPage } from '../http/pagination.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { pageByIdQuery } from '../schemas/page-query.ts';
import { isoTimestamp, matching, name, uuidLike } from '../schemas/text.ts';
import { recordChange } from './audit/record-change.ts';
import { operatorOf } from './identify-operator.ts';
import { createdOperatorToken, operatorTokenRecord, revokedToken } from './operator-records.ts';

const path = '/api/operator-tokens';

const newToken = z.strictObject({
  name: name(),
  projectIds: z
    .array(matching(projectIdRule))
    .min(1)
    .max(operatorTokenLimits.projectsMax)
    .optional()
    .meta({ description: 'Default: all projects.' }),
  expiresAt: isoTimestamp()
    .optional()
    .meta({ description: 'At most 365 days from now. Default: in 90 days.' }),
});

const list = {
  operationId: 'listOperatorTokens',
  summary: 'Valid operator tokens, oldest first',
  querystring: pageByIdQuery,
  response: {
    200: enveloped(z.array(operatorTokenRecord)),
    ...errors(400, 401, 429, 500, 503),
  },
};

const create = {
  operationId: 'createOperatorToken',
  summary: 'Create an operator token for the operator who is signed in',
  description: 'Only this response contains the token itself.',
  querystring: noQuery,
  body: newToken,
  response: {
    201: enveloped(createdOperatorToken),
    ...errors(400, 401, 403, 429, 500, 503),
  },
};

const revoke = {
  operationId: 'revokeOperatorToken',
  summary: 'Revoke an operator token permanently',
  params: z.object({ tokenId: uuidLike() }),
  querystring: noQuery,
  response: { 200: enveloped(revokedToken), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** Only for operators who have signed in: a token that creates tokens would never expire. */
export function tokens(app: App, deps: ApiDeps): void {
  const { operatorTokens } = deps;
  const config = forSignedIn;

  app.get(path, { config, schema: list }, async (request, reply) => {
    const url = `${deps.publicUrl}${path}`;
    const page = await readPage(reply, { url, query: request.query }, operatorTokens.page);
    return { data: page.tokens.map(tokenView) };
  });

  app.post(path, { config, schema: create }, async (request, reply) => {
    const { expiresAt = defaultTokenExpiry(deps.now()), projectIds, name: purpose } = request.body;
    const error = tokenExpiryError(expiresAt, deps.now());
    if (error !== null) throw invalid(`body.expiresAt: ${error}`);
    const { operatorId, name: operator } = operatorOf(request);
    const ofProjects = projectIds === undefined ? {} : { projectIds };
    const fields = { operator, name: purpose, expiresAt, ...ofProjects };
    const created = await recordChange(deps, request, (on) => on.createOperatorToken(fields));
    if (created === null) throw new ApiError('UNAUTHORIZED', 'The operator was removed.');
    const { token, record } = created;
    request.log.info({ operatorId, tokenId: record.tokenId }, 'operator_token_created');
    reply.code(201);
    return { data: { token, ...tokenView(record) } };
  });

  app.delete(`${path}/:tokenId`, { config, schema: revoke }, async (request) => {
    const { tokenId } = request.params;
    const isRevoked = await recordChange(deps, request, (on) => on.revokeOperatorToken(tokenId));
    if (!isRevoked) throw new ApiError('NOT_FOUND', 'Token not found.');
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, tokenId }, 'operator_token_revoked');
    return { data: { tokenId, revoked: true as const } };
  });
}

function tokenView({ expiresAt, createdAt, ...token }: OperatorToken) {
  return {
    ...token,
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
  };
}
