import { type Check, checked, counted } from '../types.ts';
import { named } from './stuck-runs.ts';

/** Longer than all attempts of one take. */
const owedMs = 5 * 60_000;

export const webhooks: Check = {
  name: 'webhooks',
  needs: ['schema'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'webhooks_unreadable',
    what: 'The webhooks cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look({ reconcile, mends }) {
    const owed = await reconcile.undeliveredWebhooks(owedMs);
    if (owed.length === 0) return checked([]);
    return checked([], {
      code: 'webhook_owed',
      what: `${counted(owed.length, 'webhook')} neither delivered nor given up for 5 minutes, of ${named(owed)}.`,
      advice: 'A worker takes them up again within seconds: see its log for webhook_taken_over.',
      mend: mends.deliverWebhooks,
    });
  },
};

export const schedules: Check = {
  name: 'schedules',
  needs: ['schema'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'schedules_unreadable',
    what: 'The schedules cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const before = await parts.schedules.untold();
    if (before.length > 0) await parts.settle();
    const untold = await parts.schedules.untold();
    if (before.length === 0 || untold.length === 0) return checked([]);
    const flows = untold.slice(0, 5).map(({ flowId }) => flowId);
    return checked([], {
      code: 'schedule_not_told',
      what: `Temporal has not been told of ${counted(untold.length, 'schedule')}, of ${flows.join(', ')}.`,
      advice: 'A worker tells it within seconds: see its log for schedule_not_told.',
      mend: parts.mends.tellSchedules,
    });
  },
};
