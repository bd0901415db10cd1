import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../test/support/service.ts';

const settleMs = 300;

/** Waits until the run has ended, so that the next measurement does not overlap with it. */
export async function untilGone({ sandboxes }: Pick<Service, 'sandboxes'>): Promise<void> {
  while ((await sandboxes.list()).length > 0) await sleep(50);
  await sleep(settleMs);
}
