import { type Check, checked, counted } from '../types.ts';
import { named } from './stuck-runs.ts';

/** Longer than all attempts of one delivery. */
const pendingMs = 5 * 60_000;

export const webhooksCheck: Check = {
  name: 'webhooks',
  needs: ['schema'],
  fixNeeds: ['workers'],
  onError: {
    code: 'webhooks_unreadable',
    message: 'The webhooks cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run({ reconcile, fixes }) {
    const page = await reconcile.pendingWebhooks(pendingMs);
    const pending = page.filter(({ isDue }) => isDue);
    if (pending.length === 0) return checked([]);
    return checked([], {
      code: 'webhook_pending',
      message: `${counted(pending.length, 'webhook')} pending for more than 5 minutes: ${named(pending)}.`,
      advice: 'A worker resumes them within seconds: check its log for webhook_resumed.',
      fix: fixes.deliverWebhooks,
    });
  },
};

export const schedulesCheck: Check = {
  name: 'schedules',
  needs: ['schema'],
  fixNeeds: ['workers'],
  onError: {
    code: 'schedules_unreadable',
    message: 'The schedules cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run(context) {
    const before = await context.schedules.unsynced();
    if (before.length > 0) await context.settle();
    const unsynced = await context.schedules.unsynced();
    if (before.length === 0 || unsynced.length === 0) return checked([]);
    const flows = unsynced.slice(0, 5).map(({ flowId }) => flowId);
    return checked([], {
      code: 'schedule_not_synced',
      message: `${counted(unsynced.length, 'schedule')} not synced to Temporal: ${flows.join(', ')}.`,
      advice: 'A worker syncs them within seconds: check its log for schedule_sync_failed.',
      fix: context.fixes.syncSchedules,
    });
  },
};
