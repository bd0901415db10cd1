import type { FastifyRequest } from 'fastify';
import { permitsAction } from '../../core/keys/key-scopes.ts';
import type { App } from '../app-types.ts';
import { ApiError, outOfScope } from '../errors.ts';

/** Runs after the rate limit, so that refused calls take a token too. */
export function checkScopes(app: App): void {
  app.addHook('onRequest', async ({ caller, routeOptions, is404 }) => {
    if (caller === null || is404) return;
    const { scopes = [] } = routeOptions.config;
    if (!permitsAction(caller.key.scopes, scopes)) throw outOfScope('this call');
  });
}

/**
 * Throws if the operator token is not for the project in the path. Without one, only lists that
 * leave out other projects are accepted.
 */
export function checkProjects({ operator, params, routeOptions }: FastifyRequest): void {
  const projectIds = operator?.token?.projectIds ?? null;
  if (projectIds === null) return;
  const { projectId } = params as { projectId?: string };
  const isPermitted =
    projectId === undefined
      ? routeOptions.config.leavesOutProjects === true
      : projectIds.includes(projectId);
  if (!isPermitted) throw outOfProjects();
}

const outOfProjects = () =>
  new ApiError('UNAUTHORIZED', 'The operator token is not for this project.', { status: 403 });
