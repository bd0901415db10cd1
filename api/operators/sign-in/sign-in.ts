import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Operator } from '../../../systems/postgres/accounts/operator-store.ts';
import type { App } from '../../app-types.ts';
import type { BruteForceGuard } from '../../auth/brute-force-guard.ts';
import { forAnyone, forSignedIn } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { ApiError } from '../../errors.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf, throttleAttempts, tokenPattern } from '../identify-operator.ts';
import { operatorRecord } from '../operator-records.ts';
import { noSessionCookie, sessionCookie, sessionIn } from './cookie.ts';

const signInSchema = {
  operationId: 'signIn',
  summary: 'Exchange a one-time code for a session, which is set as a cookie',
  querystring: noQuery,
  body: z.strictObject({ code: z.string() }),
  response: { 200: enveloped(operatorRecord), ...errors(400, 401, 403, 429, 500, 503) },
};

const signOutSchema = {
  operationId: 'signOut',
  summary: 'End the session',
  querystring: noQuery,
  response: { 200: enveloped(operatorRecord), ...errors(400, 401, 403, 429, 500, 503) },
};

const meSchema = {
  operationId: 'readOperator',
  summary: 'The operator who is signed in',
  querystring: noQuery,
  response: { 200: enveloped(operatorRecord), ...errors(400, 401, 429, 500, 503) },
};

/** Exchanges a one-time code for a session. */
export function signIn(app: App, deps: ApiDeps, guard: BruteForceGuard): void {
  const { publicUrl } = deps;
  const unauthenticated = { ...forAnyone, isForOwnPages: true } as const;
  const config = forSignedIn;

  app.post(
    '/api/sign-in',
    { config: unauthenticated, schema: signInSchema },
    async (request, reply) => {
      const { code } = request.body;
      if (!tokenPattern.test(code)) throw invalidCode();
      throttleAttempts(guard, { token: code, address: request.ip, error: invalidCode });
      const created = await signInRecorded(deps, request, code);
      if (created === null) {
        guard.record(code, request.ip, false);
        throw invalidCode();
      }
      request.log.info({ operatorId: created.operator.operatorId }, 'operator_signed_in');
      reply.header('set-cookie', sessionCookie(created.session, publicUrl));
      return { data: operatorView(created.operator) };
    },
  );

  app.post('/api/sign-out', { config, schema: signOutSchema }, async (request, reply) => {
    const session = sessionIn(request.headers.cookie, publicUrl) ?? '';
    await recordChange(deps, request, async (on) => {
      if (await on.operators.signOut(session))
        await on.record({ action: 'signed_out', ...ofOperator(operatorOf(request)) });
    });
    reply.header('set-cookie', noSessionCookie(publicUrl));
    return { data: operatorView(operatorOf(request)) };
  });

  app.get('/api/me', { config, schema: meSchema }, async (request) => ({
    data: operatorView(operatorOf(request)),
  }));
}

/** The operator is known only afterwards. */
const signInRecorded = ({ audit }: Pick<ApiDeps, 'audit'>, request: FastifyRequest, code: string) =>
  audit.change(async (on) => {
    const created = await on.operators.signIn(code);
    if (created === null) return null;
    const { operatorId, name: operator } = created.operator;
    const { ip: address, id: requestId } = request;
    await on.record({
      ...{ source: 'api', operatorId, operator, tokenId: null, address, requestId },
      ...{ action: 'signed_in', ...ofOperator(created.operator) },
    });
    return created;
  });

const ofOperator = ({ operatorId }: Operator) => ({
  ...{ projectId: null, objectId: operatorId },
  ...{ fieldsBefore: [], fieldsAfter: [] },
});

const invalidCode = () =>
  new ApiError(
    'UNAUTHORIZED',
    'The sign-in code is invalid, used or expired. `flowrun operator add` prints a new one.',
  );

function operatorView({ operatorId, name, createdAt }: Operator) {
  return { operatorId, name, createdAt: createdAt.toISOString() };
}
