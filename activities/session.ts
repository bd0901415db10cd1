import type { UndeliveredMessage } from '../core/sessions/chat.ts';
import type { TurnStore } from '../systems/postgres/sessions/turn-store.ts';
import type { Presence } from '../systems/redis/presence.ts';
import type { SessionActivities } from '../workflows/shared/activities.ts';
import type { SlotAssigner } from './assign-slots.ts';
import type { RunDeps } from './run.ts';

export interface SessionDeps {
  turns: Pick<TurnStore, 'claimSlot' | 'failTurn' | 'hasWork' | 'idleState'>;
  frameStream: RunDeps['frameStream'];
  presence: Pick<Presence, 'unattendedForMs'>;
}

const noSlot: UndeliveredMessage = {
  error: 'no_capacity',
  reason:
    'No sandbox could be started: there was no capacity for one in time. Send the message again later.',
};

export function createSessionActivities(
  { turns, presence, frameStream }: SessionDeps,
  slots: Pick<SlotAssigner, 'assign' | 'assignFor'>,
): SessionActivities {
  return {
    /** A second call returns the slot that the first has claimed. */
    async claimSessionSlot({ runId, after }) {
      const { hasWaiting, ...slot } = await turns.claimSlot(runId, after);
      if (slot.outcome === 'no_work' && hasWaiting) await slots.assign();
      if (slot.outcome !== 'no_capacity' || !(await slots.assignFor(runId))) return slot;
      const { hasWaiting: _, ...assigned } = await turns.claimSlot(runId, after);
      return assigned;
    },

    /** A second call finds the generation used and fails no other message. */
    async failTurn(ref) {
      await turns.failTurn(ref, noSlot);
      await frameStream.notify(ref.runId);
      return { more: await turns.hasWork(ref.runId) };
    },

    /** Reads only. Background work keeps a session awake as an open stream does. */
    async getSessionIdleness({ runId }) {
      const [{ idleForMs, inactiveForMs }, unattendedForMs] = await Promise.all([
        turns.idleState(runId),
        presence.unattendedForMs(runId),
      ]);
      const known = [inactiveForMs, unattendedForMs].filter((ms) => ms !== null);
      return { idleForMs, unattendedForMs: known.length === 0 ? null : Math.min(...known) };
    },
  };
}
