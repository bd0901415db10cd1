import { limits } from '../../../core/limits.ts';
import { setClock } from '../advice.ts';
import { type Check, seen } from '../types.ts';

export const clock: Check = {
  name: 'clock',
  needs: ['schema'],
  ifItFails: {
    code: 'clock_unknown',
    what: 'The clock of Postgres cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const aheadMs = await parts.postgres.clockAheadMs();
    if (Math.abs(aheadMs) <= limits.clockOffMaxMs) return seen(['that of Postgres']);
    return seen([], {
      code: 'clock_wrong',
      what: `The clock of this machine is ${offBy(aheadMs)} that of Postgres.`,
      advice: setClock,
    });
  },
};

export function offBy(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}
