// A sandbox must end even if every part of the service is gone. Every answer of the host renews the
// deadline. When it passes, the host is asked twice more, because after a pause of the container the
// timer fires before the first answer can come; only then is the host taken for lost.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeouts } from './constants.ts';
import type { Host } from './host-client.ts';

const lastAsks = 2;

/** Resolves when the host is lost; rejects only when `signal` is aborted. */
export async function untilHostIsLost(
  host: Host,
  timeouts: Timeouts,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const left = host.lastResponseAt() + timeouts.deadlineMs - performance.now();
    if (left > 0) await sleep(left, null, { signal });
    else if (!(await answersLate(host, timeouts))) return;
  }
}

async function answersLate(host: Host, timeouts: Timeouts): Promise<boolean> {
  for (let ask = 0; ask < lastAsks; ask += 1) {
    if (await host.isAlive(timeouts.finalProbeMs)) return true;
  }
  return false;
}
