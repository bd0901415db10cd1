import type { Session } from '../../core/sessions/session.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { loadFlow } from '../runs/load-run.ts';
import { sessionId as sessionIdSchema } from './session-id.ts';

/**
 * The one way to a session by its id: of a flow of this project, and not deleted. Both are asked for at
 * once, and what is wrong with the flow is said first.
 */
export async function loadSession(
  deps: Pick<ApiDeps, 'flows' | 'sessions'>,
  { flowId, sessionId }: { flowId: string; sessionId: string },
  projectId: string,
): Promise<Session> {
  const isPossible = sessionIdSchema.safeParse(sessionId).success;
  const [, session] = await Promise.all([
    loadFlow(deps, flowId, projectId),
    isPossible ? deps.sessions.find(flowId, sessionId) : null,
  ]);
  if (session === null || session.run.deletedAt !== null) throw notFound('Session');
  return session;
}
