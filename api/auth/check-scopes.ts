import type { FastifyRequest } from 'fastify';
import { permitsAction } from '../../core/keys/key-scopes.ts';
import type { App, Caller } from '../app-types.ts';
import { ApiError, outOfScope, outOfTree } from '../errors.ts';

/** Runs after the rate limit, so that refused calls take a token too. */
export function checkScopes(app: App): void {
  app.addHook('onRequest', async (request) => {
    const { caller, routeOptions, is404 } = request;
    if (caller === null || is404) return;
    checkRunToken(request, caller);
    checkAgent(request, caller);
    const { scopes = [] } = routeOptions.config;
    if (!permitsAction(caller.key.scopes, scopes)) throw outOfScope('this call');
  });
}

function checkRunToken({ params, routeOptions }: FastifyRequest, { runToken }: Caller): void {
  if (runToken === null) return;
  const { callers = [], checksRun } = routeOptions.config;
  const { runId } = params as { runId?: string };
  const isItsRun = runId === undefined ? checksRun === true : isSame(runId, runToken);
  if (!callers.includes('run-token') || !isItsRun) throw outOfRun();
}

/** The runs that an agent can reach are checked where they are loaded. */
function checkAgent({ routeOptions }: FastifyRequest, { agent }: Caller): void {
  if (agent !== null && !(routeOptions.config.callers ?? []).includes('agent')) throw outOfTree();
}

/** For routes without a run in their path. Null: the call would start a run. */
export function checkRun(request: FastifyRequest, runId: string | null): void {
  const runToken = request.caller?.runToken ?? null;
  if (runToken !== null && (runId === null || !isSame(runId, runToken))) throw outOfRun();
}

const isSame = (runId: string, token: { runId: string }): boolean =>
  runId.toLowerCase() === token.runId;

const outOfRun = () =>
  new ApiError(
    'UNAUTHORIZED',
    'A run token can only read, stream and chat with its own run. Use an API key.',
    { status: 403 },
  );

/**
 * Throws if the operator token is not for the project in the path. If the path has no
 * project, only lists of permitted projects are accepted.
 */
export function checkProjects({ operator, params, routeOptions }: FastifyRequest): void {
  const projectIds = operator?.token?.projectIds ?? null;
  if (projectIds === null) return;
  const { projectId } = params as { projectId?: string };
  const isPermitted =
    projectId === undefined
      ? routeOptions.config.listsPermittedProjects === true
      : projectIds.includes(projectId);
  if (!isPermitted) throw outOfProjects();
}

const outOfProjects = () =>
  new ApiError(
    'UNAUTHORIZED',
    'The operator token is limited to some projects and does not permit this request. Use another token, or sign in.',
    { status: 403 },
  );
