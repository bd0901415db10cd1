// A waiting request holds a connection for up to minutes, and connections are limited per process.
// So each process limits how many requests of a key and of a project wait at a time.

import type { FastifyRequest } from 'fastify';
import { limits } from '../../core/limits.ts';
import { createTally } from '../../lib/tally.ts';
import type { App } from '../app-types.ts';
import { ApiError } from '../errors.ts';
import { onAnswerEnd } from '../http/on-response-close.ts';

/** Rejects a request over the limit before anything is stored. Operators are not limited. */
export function installWaitLimit(app: App): void {
  const { perKey, perProject } = limits.http.waits;
  const ofKeys = createTally();
  const ofProjects = createTally();
  app.addHook('preHandler', async (request, reply) => {
    if (request.caller === null || !asksToWait(request)) return;
    const { keyId, projectId } = request.caller.key;
    rejectBeyond(perKey, ofKeys.count(keyId));
    rejectBeyond(perProject, ofProjects.count(projectId));
    ofKeys.add(keyId, 1);
    ofProjects.add(projectId, 1);
    onAnswerEnd(reply, () => {
      ofKeys.add(keyId, -1);
      ofProjects.add(projectId, -1);
    });
  });
}

/** For the end of a run (`?wait=`) or of a turn (`"stream": false`). */
function asksToWait({ query, body }: FastifyRequest): boolean {
  const { wait = 0 } = query as { wait?: number };
  const { stream } = (body ?? {}) as { stream?: unknown };
  return wait > 0 || stream === false;
}

function rejectBeyond(limit: number, current: number): void {
  if (current < limit) return;
  const message =
    'Too many requests of this key or project wait for runs or turns. Retry when one has ended, or do not wait.';
  throw new ApiError('WAIT_LIMIT', message, { limit, current });
}
