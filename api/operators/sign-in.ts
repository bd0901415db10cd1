import { z } from 'zod';
import type { Operator } from '../../systems/postgres/accounts/operator-store.ts';
import type { App } from '../app-types.ts';
import type { BruteForceGuard } from '../auth/brute-force-guard.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { noQuery } from '../runs/run-schema.ts';
import { operatorOf, throttleAttempts, tokenPattern } from './authenticate-operator.ts';
import { noSessionCookie, sessionCookie, sessionIn } from './cookie.ts';
import { signInPage, signInPageHeaders } from './sign-in-page.ts';

const schema = { hide: true, querystring: noQuery, body: z.strictObject({ code: z.string() }) };
const plain = { hide: true, querystring: noQuery };

/** A one-time code becomes a session; the page is there for links that are opened in a browser. */
export function signIn(app: App, deps: ApiDeps, unknown: BruteForceGuard): void {
  const { operators, publicUrl } = deps;
  const page = signInPage(deps);
  const toAnybody = { operatorAuth: 'none' } as const;
  const config = { operatorAuth: 'signed-in' } as const;

  app.get('/sign-in', { config: toAnybody, schema: { hide: true } }, async (_request, reply) =>
    reply.headers(signInPageHeaders).send(page),
  );

  app.post('/api/sign-in', { config: toAnybody, schema }, async (request, reply) => {
    const { code } = request.body;
    if (!tokenPattern.test(code)) throw wrongCode();
    throttleAttempts(unknown, { token: code, address: request.ip, error: wrongCode });
    const begun = await operators.signIn(code);
    if (begun === null) {
      unknown.record(code, request.ip, false);
      throw wrongCode();
    }
    request.log.info({ operatorId: begun.operator.operatorId }, 'operator_signed_in');
    reply.header('set-cookie', sessionCookie(begun.session, publicUrl));
    return { data: operatorView(begun.operator) };
  });

  app.post('/api/sign-out', { config, schema: plain }, async (request, reply) => {
    await operators.signOut(sessionIn(request.headers.cookie, publicUrl) ?? '');
    reply.header('set-cookie', noSessionCookie(publicUrl));
    return { data: operatorView(operatorOf(request)) };
  });

  app.get('/api/me', { config, schema: plain }, async (request) => ({
    data: operatorView(operatorOf(request)),
  }));
}

const wrongCode = () =>
  new ApiError(
    'UNAUTHORIZED',
    'This sign-in code is wrong, was used before, or is too old; `flowrun operator add` prints another.',
  );

function operatorView({ operatorId, name, createdAt }: Operator) {
  return { operatorId, name, createdAt: createdAt.toISOString() };
}
