import type { Logger } from 'pino';
import { limits } from '../core/limits.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';

export interface EvictDeps {
  admission: Pick<AdmissionStore, 'idleInTheWay'>;
  temporal: { signalSleep: (workflowId: string) => Promise<unknown> };
  now: () => Date;
  logger: Logger;
}

/** Asks a session that has nothing to do for its place, for one that waits. */
export type EvictIdleSession = (runId: string) => Promise<void>;

/**
 * Where every host is full, a session that has nothing to do is put to sleep for a run or a message that
 * waits: it has what it needs to go on, on any host. Only told: the place is there when it sleeps. One
 * that was told already is told again after a while, in case the word was lost.
 */
export function createIdleEvictor({
  admission,
  temporal,
  now,
  logger,
}: EvictDeps): EvictIdleSession {
  const lastRequestedAt = new Map<string, number>();
  return async (runId) => {
    const idle = await admission.idleInTheWay(runId);
    if (idle === null) return;
    const at = now().getTime();
    for (const [told, then] of lastRequestedAt) {
      if (at - then >= limits.evictionRetryMs) lastRequestedAt.delete(told);
    }
    if (lastRequestedAt.has(idle.runId)) return;
    await temporal.signalSleep(idle.workflowId);
    lastRequestedAt.set(idle.runId, at);
    const { requestId, hostId } = idle;
    logger.info({ runId: idle.runId, requestId, hostId, for: runId }, 'session_evicted');
  };
}
