import type { Session } from '../../core/sessions/session.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { loadFlow } from '../runs/load-run.ts';
import { sessionId as sessionIdSchema } from './session-id.ts';

/**
 * Loads a session of a flow of this project that is not deleted, or throws. Flow and session are
 * read in parallel, and an error of the flow is reported first.
 */
export async function loadSession(
  deps: Pick<ApiDeps, 'flows' | 'sessions'>,
  { flowId, sessionId }: { flowId: string; sessionId: string },
  projectId: string,
): Promise<Session> {
  const isValidId = sessionIdSchema.safeParse(sessionId).success;
  const [, session] = await Promise.all([
    loadFlow(deps, flowId, projectId),
    isValidId ? deps.sessions.find(flowId, sessionId) : null,
  ]);
  if (session === null || session.run.deletedAt !== null) throw notFound('Session');
  return session;
}
