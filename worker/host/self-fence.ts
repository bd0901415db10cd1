// A host whose heartbeat no longer reaches Postgres will be declared lost, and other hosts will
// continue its sessions. Before that it fences itself: egress is blocked, the sandboxes are paused,
// and no task is polled. After a successful heartbeat it unpauses the sandboxes that it still owns.
// The others stay paused until the reconciler removes them. Fencing happens `hostStaleMs` before
// other hosts may take over.
//
// The monotonic clock stops while the machine is suspended, and the wall clock may be set. So the
// time since the last heartbeat is the longer one of the two. A host that was suspended is fenced
// at once. A wall clock that is set forward fences the host until its next heartbeat.

import type { Logger } from 'pino';
import { sleep } from '../../lib/async/sleep.ts';
import type { ListedSandbox } from '../../systems/docker/container/list.ts';
import type { Sandboxes } from '../../systems/docker/sandboxes.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { Egress } from '../egress/run-listener.ts';
import { sandboxKey } from '../sandbox/sandbox-key.ts';
import { type ClockReading, elapsedMs, readClocks } from './clocks.ts';

interface FenceDeps {
  hostId: string;
  times: { renewMs: number; fenceMs: number };
  runs: Pick<RunStore, 'activeOnHost'>;
  sandboxes: Pick<Sandboxes, 'list' | 'pause' | 'unpause'>;
  egress: Pick<Egress, 'block' | 'unblock'>;
  logger: Logger;
  now?: () => ClockReading;
}

export interface SelfFence {
  /** Called after each successful heartbeat with the time it was sent. */
  renewed(sentAt: ClockReading): void;
  /** Aborted while the host is fenced. Each fencing has its own signal. */
  fencedSignal(): AbortSignal;
  /** Resolves when the host is not fenced, or at the signal. */
  untilUnfenced(signal: AbortSignal): Promise<void>;
  /** Fences and unfences until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

export function createSelfFence(deps: FenceDeps): SelfFence {
  const { times, logger, now = readClocks } = deps;
  const tickMs = times.renewMs / 5;
  const paused = new Set<string>();
  let renewedAt = now();
  let fenced = new AbortController();
  const msSinceRenewal = (): number => elapsedMs(renewedAt, now());

  /** Repeated at every tick, because a sandbox may have been starting at the first one. */
  async function fence(): Promise<void> {
    if (!fenced.signal.aborted) {
      logger.error({ msSinceRenewal: Math.round(msSinceRenewal()) }, 'host_fenced');
      fenced.abort();
      deps.egress.block();
    }
    const running = (await ownSandboxes(deps)).filter(({ state }) => state === 'running');
    await forEach(running, async ({ containerId }) => {
      await deps.sandboxes.pause(containerId);
      paused.add(containerId);
    });
  }

  async function unfence(): Promise<void> {
    const owned = new Set((await deps.runs.activeOnHost(deps.hostId)).map(sandboxKey));
    const still = (await ownSandboxes(deps)).filter(({ containerId }) => paused.has(containerId));
    const kept = still.filter((one) => owned.has(sandboxKey(one)));
    deps.egress.unblock();
    await forEach(kept, ({ containerId }) => deps.sandboxes.unpause(containerId));
    paused.clear();
    fenced = new AbortController();
    logger.info({ kept: kept.length, left: still.length - kept.length }, 'host_unfenced');
  }

  async function tick(): Promise<void> {
    if (msSinceRenewal() > times.fenceMs) return fence();
    if (fenced.signal.aborted) return unfence();
  }

  return {
    renewed(sentAt) {
      if (sentAt.monotonicMs > renewedAt.monotonicMs) renewedAt = sentAt;
    },
    fencedSignal: () => fenced.signal,
    async untilUnfenced(signal) {
      while (fenced.signal.aborted && !signal.aborted) await sleep(tickMs, signal);
    },
    async run(signal) {
      // Until here the host has read from Postgres. The first heartbeat is sent only now.
      renewedAt = now();
      while (!signal.aborted) {
        await tick().catch((err: unknown) => logger.warn({ err }, 'fence_update_failed'));
        await sleep(tickMs, signal);
      }
    },
  };
}

async function ownSandboxes({ sandboxes, hostId }: FenceDeps): Promise<ListedSandbox[]> {
  return (await sandboxes.list()).filter((one) => one.hostId === hostId);
}

/** Tries all, even if one fails. The next tick comes soon. */
async function forEach(
  sandboxes: ListedSandbox[],
  act: (sandbox: ListedSandbox) => Promise<void>,
): Promise<void> {
  const tried = await Promise.allSettled(sandboxes.map(act));
  const failed = tried.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
