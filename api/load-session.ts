import type { Flow } from '../core/flow.ts';
import type { Session } from '../core/session.ts';
import type { ApiDeps } from './deps.ts';
import { notFound } from './errors.ts';
import { loadFlow } from './load-run.ts';
import { sessionId as sessionIdSchema } from './schemas/session-id.ts';

/** The one way to a session by its id: of a flow of this project, and not deleted. */
export async function loadSession(
  deps: Pick<ApiDeps, 'flows' | 'sessions'>,
  { flowId, sessionId }: { flowId: string; sessionId: string },
  projectId: string,
): Promise<Session> {
  return sessionOf(deps, await loadFlow(deps, flowId, projectId), sessionId);
}

/** The same of a flow that was found already. */
export async function sessionOf(
  { sessions }: Pick<ApiDeps, 'sessions'>,
  { flowId }: Pick<Flow, 'flowId'>,
  sessionId: string,
): Promise<Session> {
  const isPossible = sessionIdSchema.safeParse(sessionId).success;
  const session = isPossible ? await sessions.find(flowId, sessionId) : null;
  if (session === null || session.run.deletedAt !== null) throw notFound('Session');
  return session;
}
