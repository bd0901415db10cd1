import { type Check, counted, seen } from '../types.ts';

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
    if (before.length === 0 || untold.length === 0) return seen([]);
    const flows = untold.slice(0, 5).map(({ flowId }) => flowId);
    return seen([], {
      code: 'schedule_not_told',
      what: `Temporal has not been told of ${counted(untold.length, 'schedule')}, of ${flows.join(', ')}.`,
      advice: 'A worker tells it within seconds: see its log for schedule_not_told.',
      mend: parts.mends.tellSchedules,
    });
  },
};
