import type { Logger } from 'pino';
import { limits } from '../core/limits.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { Eviction } from '../systems/postgres/admission/evictable-session.ts';

export interface EvictorDeps {
  admission: Pick<AdmissionStore, 'findEvictableOnHosts'>;
  temporal: { signalSleep: (workflowId: string) => Promise<unknown> };
  now: () => Date;
  logger: Logger;
}

/** `becameIdle`: the run of a session that has become idle now; null if none has. */
type EvictIdleSessions = (becameIdle: string | null) => Promise<void>;

/**
 * When every host is full, signals idle sessions to sleep, so that waiting runs and messages get
 * their slots. A session can continue on any host. A slot is free only after its session has gone
 * to sleep. The signal is sent again after `limits.eviction.retryMs`, in case it was lost, and at
 * once if the session has worked since.
 */
export function createIdleEvictor(deps: EvictorDeps): EvictIdleSessions {
  const { admission, temporal, now, logger } = deps;
  const lastRequestedAt = new Map<string, number>();

  async function request({ waitingRunId, workflowId, ...session }: Eviction, at: number) {
    if (lastRequestedAt.has(session.runId)) return;
    await temporal.signalSleep(workflowId);
    lastRequestedAt.set(session.runId, at);
    logger.info({ ...session, for: waitingRunId }, 'session_eviction_requested');
  }

  return async (becameIdle) => {
    if (becameIdle !== null) lastRequestedAt.delete(becameIdle);
    const evictions = await admission.findEvictableOnHosts();
    if (evictions.length === 0) return;
    const at = now().getTime();
    for (const [runId, requestedAt] of lastRequestedAt) {
      if (at - requestedAt >= limits.eviction.retryMs) lastRequestedAt.delete(runId);
    }
    await Promise.all(evictions.map((eviction) => request(eviction, at)));
  };
}
