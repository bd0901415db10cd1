import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FlowOutline } from '../core/flows/flow.ts';
import { flowIdsOf, type KeyAction, permitsAction } from '../core/keys/key-scopes.ts';
import type { KeyRecord } from '../systems/postgres/accounts/key-row.ts';
import type { Operator } from '../systems/postgres/accounts/operator-store.ts';
import type { TokenHolder } from '../systems/postgres/accounts/operator-token-store.ts';
import type { CallerKind } from './auth/callers.ts';
import type { ErrorCode } from './errors.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** The caller of a request: an active API key, or the agent of a run. */
export interface Caller {
  /**
   * Has the scopes of the run token, if the request has one. For an agent, `keyId` is the ID of its
   * run, because an agent has a rate limit of its run's.
   */
  key: KeyRecord;
  /** Null: the request has the API key. */
  runToken: { runId: string; expiresInMs: number } | null;
  /** The agent of a run, and the key that the run counts for. Null: the caller is no agent. */
  agent: { runId: string; keyId: string | null } | null;
  /** The flow in the path, which may be of another project; null: there is none. */
  flow: FlowOutline | null;
}

/** The operator of a request, who has signed in or uses a token. */
export interface OperatorCaller extends Operator {
  /** Null: the operator has signed in. */
  token: TokenHolder['token'] | null;
  /** The token of the session, or the operator token. */
  credential: string;
  /** The flow in the path, if the route reads it, and if it belongs to the project in the path. */
  flow: FlowOutline | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before authentication, and on routes without an API key. */
    caller: Caller | null;
    /** Null except on routes for operators. */
    operator: OperatorCaller | null;
    /** The code of the error that was sent; null for a success. */
    errorCode: ErrorCode | null;
    /** How long the request waited because the client asked it to. */
    requestedWaitMs: number;
  }
  interface FastifyContextConfig {
    /** The kinds of callers that the route accepts. A route without them rejects every call. */
    callers?: readonly CallerKind[];
    /** A key with scopes for actions needs one of these. */
    scopes?: readonly KeyAction[];
    /**
     * For pages of this service: responses are not cached, and a write with the cookie needs the
     * `Origin` of the service.
     */
    isForOwnPages?: true;
    /** The path has no run, so the handler calls `checkRun` for the run that it finds. */
    checksRun?: true;
    /** Lists only the projects that the caller can reach. */
    listsPermittedProjects?: true;
    /** Called every few seconds by monitoring: a healthy answer is logged at `debug` only. */
    isProbe?: true;
    /** Answers with a stream, whose duration does not measure the service. */
    isStream?: true;
    /** Also reads the API key from the query, for clients that cannot set headers. */
    acceptsKeyInQuery?: true;
    /** For operators, the flow in the path is read before the handler. */
    readsFlow?: true;
    /** Answers the same for every ID in the path. */
    skipsIdCheck?: true;
  }
}

/** The caller of a route that needs an API key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('no caller: the route skipped authentication');
  return request.caller;
}

/** The name of the operator or the key, for the versions of flows. */
export const callerName = (request: FastifyRequest): string =>
  request.operator?.name ?? callerOf(request).key.name;

/** What a caller can reach. */
export interface Access {
  projectId: string;
  /** Null: every flow of the project. */
  flowIds: readonly string[] | null;
}

/** The resources that a caller can reach through a route. */
export interface RouteAccess extends Access {
  /** Resources of other projects get 404 instead of 403. */
  hidesOtherProjects: boolean;
  reachesPlainRuns: boolean;
  reachesSessions: boolean;
  /** Only runs below this one. Null: no such limit. */
  below: string | null;
  /** Files that the flow's `.flowignore` does not match are files of the flow. */
  mayChangeFlow: boolean;
}

/**
 * A route for `run` and `chat` needs `run` for a plain run, and `chat` for a session. An operator
 * reaches everything in the project of the path.
 */
export function accessOf(request: FastifyRequest): RouteAccess {
  if (request.operator !== null) return accessOfOperator(request);
  const { key, agent } = callerOf(request);
  const { projectId, scopes } = key;
  const { scopes: ofRoute = [] } = request.routeOptions.config;
  const isForBoth = ofRoute.includes('run') && ofRoute.includes('chat');
  const mayRun = permitsAction(scopes, ['run']);
  return {
    projectId,
    flowIds: flowIdsOf(scopes),
    hidesOtherProjects: false,
    reachesPlainRuns: !isForBoth || mayRun,
    reachesSessions: !isForBoth || permitsAction(scopes, ['chat']),
    below: agent?.runId ?? null,
    mayChangeFlow: mayRun,
  };
}

function accessOfOperator({ params }: FastifyRequest): RouteAccess {
  const { projectId } = params as { projectId: string }; // checked by checkProjects
  const reached = {
    reachesPlainRuns: true,
    reachesSessions: true,
    below: null,
    mayChangeFlow: true,
  };
  return { projectId, flowIds: null, hidesOtherProjects: true, ...reached };
}
