// A sandbox has to end even if the whole service is gone. Every response of the host renews the
// deadline. After the deadline the host is probed twice, because after a pause of the container the
// timer fires before a response can arrive. If both probes fail, the host is lost.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeouts } from './constants.ts';
import type { HostClient } from './host-client.ts';

const finalProbes = 2;

/** Resolves when the host is lost; rejects only when `signal` is aborted. */
export async function untilHostIsLost(
  host: HostClient,
  timeouts: Timeouts,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const left = host.lastResponseAt() + timeouts.deadlineMs - performance.now();
    if (left > 0) await sleep(left, null, { signal });
    else if (!(await respondsToProbe(host, timeouts))) return;
  }
}

async function respondsToProbe(host: HostClient, timeouts: Timeouts): Promise<boolean> {
  for (let probe = 0; probe < finalProbes; probe += 1) {
    if (await host.isAlive(timeouts.finalProbeMs)) return true;
  }
  return false;
}
