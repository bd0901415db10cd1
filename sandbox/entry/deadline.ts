// A sandbox must end even if every part of the service is gone. Every answer of the host renews the
// deadline. When it passes, the host is asked twice more, because after a pause of the container the
// timer fires before the first answer can come; only then is the host taken for lost.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Times } from './constants.ts';
import type { Host } from './host-client.ts';

const lastAsks = 2;

/** Resolves when the host is lost; rejects only when `signal` is aborted. */
export async function untilHostIsLost(
  host: Host,
  times: Times,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const left = host.lastAnswerAt() + times.deadlineMs - performance.now();
    if (left > 0) await sleep(left, null, { signal });
    else if (!(await answersLate(host, times))) return;
  }
}

async function answersLate(host: Host, times: Times): Promise<boolean> {
  for (let ask = 0; ask < lastAsks; ask += 1) {
    if (await host.isThere(times.lastAskMs)) return true;
  }
  return false;
}
