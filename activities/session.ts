import type { UndeliveredMessage } from '../core/sessions/chat.ts';
import type { TurnStore } from '../systems/postgres/sessions/turn-store.ts';
import type { Presence } from '../systems/redis/presence.ts';
import type { SessionActivities } from '../workflows/shared/activities.ts';
import type { EvictIdleSession } from './evict-idle-session.ts';
import { noCapacity } from './no-capacity.ts';
import type { RunDeps } from './run.ts';

export interface SessionDeps {
  turns: Pick<TurnStore, 'claimPlace' | 'giveUp' | 'hasWork' | 'idleForMs'>;
  frameStream: RunDeps['frameStream'];
  presence: Pick<Presence, 'unattendedForMs'>;
}

const noPlace: UndeliveredMessage = {
  error: 'no_capacity',
  reason:
    'No sandbox could be started: there was no capacity for one in time. Send the message again later.',
};

export function createSessionActivities(
  { turns, presence, frameStream }: SessionDeps,
  makeWay: EvictIdleSession,
): SessionActivities {
  return {
    /** A second call returns the place that the first has taken. */
    async claimSessionSlot({ runId, after }) {
      const place = await turns.claimPlace(runId, after);
      if (place.outcome !== 'no_capacity') return place;
      await makeWay(runId);
      throw noCapacity();
    },

    /** A second call finds the number used, and fails no other message. */
    async failTurn(ref) {
      await turns.giveUp(ref, noPlace);
      await frameStream.notify(ref.runId);
      return { more: await turns.hasWork(ref.runId) };
    },

    async getSessionIdleness({ runId }) {
      const [idleForMs, unattendedForMs] = await Promise.all([
        turns.idleForMs(runId),
        presence.unattendedForMs(runId),
      ]);
      return { idleForMs, unattendedForMs };
    },
  };
}
