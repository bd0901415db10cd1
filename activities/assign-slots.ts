import type { Logger } from 'pino';
import { limits } from '../core/limits.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { Eviction } from '../systems/postgres/admission/evictable-session.ts';
import type { AssignedRun } from '../systems/postgres/admission/waiting-runs.ts';

export interface AssignerDeps {
  admission: Pick<AdmissionStore, 'assignWaiting' | 'findUnclaimed' | 'findEvictableOnHosts'>;
  temporal: {
    signalSlotAssigned: (workflowId: string) => Promise<unknown>;
    signalSleep: (workflowId: string) => Promise<unknown>;
  };
  now: () => Date;
  logger: Logger;
}

/** Every function can be called again at any time, in any process. */
export interface SlotAssigner {
  /**
   * Assigns free slots to waiting runs, notifies their workflows, and evicts idle sessions for
   * those that still wait. Returns whether this run was assigned a slot; it is not notified.
   */
  assignFor(runId: string): Promise<boolean>;
  /** The same after a slot was released. Never throws: the next heartbeat repeats it. */
  assign(): Promise<void>;
  /** The same, and notifies again those that have not asked for their slot. */
  repair(): Promise<void>;
}

export function createSlotAssigner(deps: AssignerDeps): SlotAssigner {
  const { admission, temporal, logger } = deps;
  const evict = createEvictor(deps);

  async function notify({ workflowId, ...assigned }: AssignedRun): Promise<void> {
    try {
      await temporal.signalSlotAssigned(workflowId);
      logger.info(assigned, 'slot_assigned');
    } catch (err) {
      logger.warn({ err, ...assigned }, 'slot_notification_failed'); // a heartbeat repeats it
    }
  }

  async function assignExcept(notNotified: string | null): Promise<AssignedRun[]> {
    const assigned = await admission.assignWaiting();
    await Promise.all(assigned.filter(({ runId }) => runId !== notNotified).map(notify));
    if (!assigned.some(({ runId }) => runId === notNotified)) await evict();
    return assigned;
  }

  return {
    assignFor: async (runId) =>
      (await assignExcept(runId)).some((assigned) => assigned.runId === runId),
    async assign() {
      await assignExcept(null).catch((err: unknown) => logger.warn({ err }, 'slots_not_assigned'));
    },
    async repair() {
      const unclaimed = await admission.findUnclaimed();
      await Promise.all(unclaimed.map(notify));
      await assignExcept(null);
    },
  };
}

/**
 * When every host is full, signals idle sessions to sleep, so that waiting runs and messages get
 * their slots. A session can continue on any host. A slot is free only after its session has gone
 * to sleep. The signal is sent again after `limits.eviction.retryMs`, in case it was lost.
 */
function createEvictor({ admission, temporal, now, logger }: AssignerDeps): () => Promise<void> {
  const lastRequestedAt = new Map<string, number>();

  async function request({ waitingRunId, workflowId, ...session }: Eviction, at: number) {
    if (lastRequestedAt.has(session.runId)) return;
    await temporal.signalSleep(workflowId);
    lastRequestedAt.set(session.runId, at);
    logger.info({ ...session, for: waitingRunId }, 'session_eviction_requested');
  }

  return async () => {
    const evictions = await admission.findEvictableOnHosts();
    if (evictions.length === 0) return;
    const at = now().getTime();
    for (const [runId, requestedAt] of lastRequestedAt) {
      if (at - requestedAt >= limits.eviction.retryMs) lastRequestedAt.delete(runId);
    }
    await Promise.all(evictions.map((eviction) => request(eviction, at)));
  };
}
