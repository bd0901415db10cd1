import type { FastifyRequest } from 'fastify';
import type { FlowOutline } from '../../core/flows/flow.ts';
import type { App, OperatorCaller } from '../app-types.ts';
import { ApiError } from '../errors.ts';
import { isUuid } from '../http/not-found.ts';
import type { IdentifyOperator } from '../operators/identify-operator.ts';
import type { CallerKind } from './callers.ts';
import { checkProjects } from './check-scopes.ts';
import type { IdentifyKey } from './identify-key.ts';

interface Authentication {
  identifyKey: IdentifyKey;
  identifyOperator: IdentifyOperator;
  findFlow: (flowId: string) => Promise<FlowOutline | null>;
  publicUrl: string;
}

/**
 * Runs before every route, and accepts only the callers that the route declares. A route without a
 * declaration is closed, so forgetting it opens nothing. An API key is never accepted where an
 * operator is expected, or the reverse.
 */
export function authenticate(app: App, { publicUrl, findFlow, ...identify }: Authentication): void {
  const { origin } = new URL(publicUrl);
  app.decorateRequest('caller', null);
  app.decorateRequest('operator', null);

  app.addHook('onRequest', async (request, reply) => {
    const isForOwnPages = request.routeOptions.config.isForOwnPages === true;
    if (isForOwnPages) reply.header('cache-control', 'no-store');
    await identifyCaller(request, identify);
    if (isForOwnPages && isWrite(request) && !isByToken(request)) {
      if (request.headers.origin !== origin) throw foreignOrigin();
    }
    checkProjects(request);
    if (request.operator !== null) await setFlow(request, request.operator, findFlow);
  });
}

async function identifyCaller(
  request: FastifyRequest,
  { identifyKey, identifyOperator }: Pick<Authentication, 'identifyKey' | 'identifyOperator'>,
): Promise<void> {
  const callers = callersOf(request);
  if (callers.includes('anyone')) return;
  if (callers.includes('key')) request.caller = await identifyKey(request);
  else if (callers.includes('operator'))
    request.operator = { ...(await identifyOperator(request)), flow: null };
  else throw closed();
}

/** A flow of another project counts as missing. */
async function setFlow(
  { params, routeOptions }: FastifyRequest,
  operator: OperatorCaller,
  findFlow: Authentication['findFlow'],
): Promise<void> {
  if (routeOptions.config.readsFlow !== true) return;
  const { projectId, flowId } = params as { projectId?: string; flowId?: string };
  const flow = flowId !== undefined && isUuid(flowId) ? await findFlow(flowId) : null;
  operator.flow = flow !== null && flow.projectId === projectId ? outlineOf(flow) : null;
}

/** Without the long texts of the flow, because it stays in memory while the body arrives. */
function outlineOf(flow: FlowOutline): FlowOutline {
  const { flowId, projectId, model, mcpServerNames, childRuns, timeoutSeconds, limits } = flow;
  return { flowId, projectId, model, mcpServerNames, childRuns, timeoutSeconds, limits };
}

/** Below `/api/v1` an unknown path needs a key too, so that the answers reveal no routes. */
function callersOf(request: FastifyRequest): readonly CallerKind[] {
  if (!request.is404) return request.routeOptions.config.callers ?? [];
  return /^\/api\/v1(\/|\?|$)/.test(request.url) ? ['key'] : ['anyone'];
}

/** A page of another origin cannot make a browser send a token. */
const isByToken = ({ operator }: FastifyRequest): boolean => (operator?.token ?? null) !== null;

/** Besides `SameSite`: a write with the cookie must come from a page of this service. */
const isWrite = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD';

const foreignOrigin = () =>
  new ApiError('UNAUTHORIZED', 'The Origin header must be that of this service.', {
    status: 403,
  });

const closed = () => new ApiError('UNAUTHORIZED', 'This path accepts no caller.', { status: 403 });
