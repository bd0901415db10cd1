import { type Check, checked, counted } from '../types.ts';
import { theFirst } from './stuck-runs.ts';

/** Workers start events within seconds. */
const pendingMs = 5 * 60_000;

export const eventsCheck: Check = {
  name: 'events',
  needs: ['schema'],
  fixNeeds: ['workers'],
  onError: {
    code: 'events_unreadable',
    message: 'The events for webhook endpoints cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run({ events, fixes }) {
    const unstarted = await events.unstarted(pendingMs);
    if (unstarted.length === 0) return checked([]);
    return checked([], {
      code: 'event_not_started',
      message: `${counted(unstarted.length, 'event')} whose delivery has not started for more than 5 minutes: ${theFirst(unstarted)}.`,
      advice: 'A worker starts them within seconds: check its log for event_start_failed.',
      fix: fixes.startEvents,
    });
  },
};
