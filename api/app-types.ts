import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { KeyRecord } from '../systems/postgres/accounts/key-store.ts';
import type { Operator } from '../systems/postgres/accounts/operator-store.ts';
import type { ErrorCode } from './errors.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Who is calling: a live API key, and the key itself for as long as the request lasts. */
export interface Caller {
  key: KeyRecord;
  secret: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before authentication and on what needs none. */
    caller: Caller | null;
    /** Null but on what is for operators who are signed in. */
    operator: Operator | null;
    /** What the client was told; null where that was no error. */
    errorCode: ErrorCode | null;
    /** How long it was kept waiting for what it asked to wait for. */
    requestedWaitMs: number;
  }
  interface FastifyContextConfig {
    /** Answers without a key. Everything that does not say so needs one. */
    isPublic?: true;
    /** Asked every few seconds by whatever watches the service: worth a line only where it is not well. */
    isProbe?: true;
    /** Reads the key from the query as well, for clients that cannot set headers. */
    acceptsKeyInQuery?: true;
    /** Answers the same whatever ids stand in the path. */
    skipsIdCheck?: true;
    /** Takes no API key: an operator's session, or nothing where it is what begins one. */
    operatorAuth?: 'signed-in' | 'anybody';
  }
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('a route that needs a key was reached without one');
  return request.caller;
}

export const projectOf = (request: FastifyRequest): string => callerOf(request).key.projectId;
