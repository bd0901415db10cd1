import type { FastifyRequest } from 'fastify';
import type { Session } from '../../core/sessions/session.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { flowOf } from '../runs/load-run.ts';
import { sessionId as sessionIdSchema } from './session-id.ts';

/** Loads a session of the flow in the path that is not deleted, or throws. */
export async function loadSession(
  deps: Pick<ApiDeps, 'sessions'>,
  request: FastifyRequest,
  sessionId: string,
): Promise<Session> {
  const { flowId } = flowOf(request);
  const isValidId = sessionIdSchema.safeParse(sessionId).success;
  const session = isValidId ? await deps.sessions.find(flowId, sessionId) : null;
  if (session === null || session.run.deletedAt !== null) throw notFound('Session');
  return session;
}
