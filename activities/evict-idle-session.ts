import type { Logger } from 'pino';
import { limits } from '../core/limits.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';

export interface EvictDeps {
  admission: Pick<AdmissionStore, 'findEvictableOnHosts'>;
  temporal: { signalSleep: (workflowId: string) => Promise<unknown> };
  now: () => Date;
  logger: Logger;
}

/** Puts an idle session to sleep to free a slot for the run that waits. */
export type EvictIdleSession = (runId: string) => Promise<void>;

/**
 * When every host is full, signals an idle session to sleep, so that a waiting run or message gets
 * its slot. The session can continue on any host. The slot is free only after the session has gone
 * to sleep. The signal is sent again after `limits.eviction.retryMs`, in case it was lost.
 */
export function createIdleEvictor({
  admission,
  temporal,
  now,
  logger,
}: EvictDeps): EvictIdleSession {
  const lastRequestedAt = new Map<string, number>();
  return async (runId) => {
    const idle = await admission.findEvictableOnHosts(runId);
    if (idle === null) return;
    const at = now().getTime();
    for (const [sessionRunId, requestedAt] of lastRequestedAt) {
      if (at - requestedAt >= limits.eviction.retryMs) lastRequestedAt.delete(sessionRunId);
    }
    if (lastRequestedAt.has(idle.runId)) return;
    await temporal.signalSleep(idle.workflowId);
    lastRequestedAt.set(idle.runId, at);
    const { requestId, hostId } = idle;
    logger.info({ runId: idle.runId, requestId, hostId, for: runId }, 'session_eviction_requested');
  };
}
