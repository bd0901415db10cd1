import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { KeyRecord } from '../systems/postgres/key-store.ts';

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
  }
  interface FastifyContextConfig {
    /** Answers without a key. Everything that does not say so needs one. */
    isPublic?: true;
    /** Reads the key from the query as well, for clients that cannot set headers. */
    takesKeyInQuery?: true;
    /** Answers the same whatever ids stand in the path. */
    takesAnyId?: true;
  }
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('a route that needs a key was reached without one');
  return request.caller;
}

export const projectOf = (request: FastifyRequest): string => callerOf(request).key.projectId;
