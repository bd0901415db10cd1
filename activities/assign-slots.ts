import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { AssignedRun, UnclaimedRun } from '../systems/postgres/admission/waiting-runs.ts';
import { createIdleEvictor, type EvictorDeps } from './evict-idle-sessions.ts';

export interface AssignerDeps extends EvictorDeps {
  admission: EvictorDeps['admission'] & Pick<AdmissionStore, 'assignWaiting' | 'findUnclaimed'>;
  temporal: EvictorDeps['temporal'] & {
    signalSlotAssigned: (workflowId: string) => Promise<unknown>;
    signalWork: (workflowId: string) => Promise<unknown>;
  };
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
  /**
   * Evicts idle sessions for runs that wait, after this session has become idle. Never throws: the
   * next heartbeat repeats it.
   */
  evictAfter(idleRunId: string): Promise<void>;
}

export function createSlotAssigner(deps: AssignerDeps): SlotAssigner {
  const { admission, temporal, logger } = deps;
  const evictIdle = createIdleEvictor(deps);

  async function notify({ workflowId, ...assigned }: AssignedRun): Promise<void> {
    try {
      await temporal.signalSlotAssigned(workflowId);
      if (assigned.hostId !== null) logger.info(assigned, 'slot_assigned');
    } catch (err) {
      logger.warn({ err, ...assigned }, 'slot_notification_failed'); // a heartbeat repeats it
    }
  }

  /** A session that a hint has woken does not wait for a slot, and may not know of its message. */
  async function remind({ isSession, ...run }: UnclaimedRun): Promise<void> {
    await notify(run);
    if (isSession) await temporal.signalWork(run.workflowId);
  }

  async function assignExcept(notNotified: string | null): Promise<AssignedRun[]> {
    const assigned = await admission.assignWaiting();
    await Promise.all(assigned.filter(({ runId }) => runId !== notNotified).map(notify));
    if (!assigned.some(({ runId }) => runId === notNotified)) await evictIdle(null);
    return assigned;
  }

  return {
    assignFor: async (runId) =>
      (await assignExcept(runId)).some((assigned) => assigned.runId === runId),
    async assign() {
      await assignExcept(null).catch((err: unknown) =>
        logger.warn({ err }, 'slot_assignment_failed'),
      );
    },
    async evictAfter(idleRunId) {
      await evictIdle(idleRunId).catch((err: unknown) =>
        logger.warn({ err, runId: idleRunId }, 'idle_session_eviction_failed'),
      );
    },
    async repair() {
      const unclaimed = await admission.findUnclaimed();
      await Promise.all(unclaimed.map(remind));
      await assignExcept(null);
    },
  };
}
