// A host that Postgres has not heard of for long is about to be given up: others will go on with what
// it has. Before they may, it holds its own still: the gateway is shut, so that nothing it has started
// reaches the world any more, the sandboxes are paused, and no task is taken. When Postgres hears it
// again it goes on with what is still its own; what is another's by then stays paused until the
// reconciler removes it. The times leave as long between the two as it takes to be silent.

import type { Logger } from 'pino';
import { sleep } from '../../lib/async/sleep.ts';
import type { ListedSandbox } from '../../systems/docker/container/list.ts';
import type { Sandboxes } from '../../systems/docker/sandbox.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { Egress } from '../egress/run-listener.ts';
import { sandboxKey } from '../sandbox/stop/orphaned-folders.ts';

interface FenceDeps {
  hostId: string;
  times: { renewMs: number; fenceMs: number };
  runs: Pick<RunStore, 'activeOnHost'>;
  sandboxes: Pick<Sandboxes, 'list' | 'pause' | 'unpause'>;
  egress: Pick<Egress, 'block' | 'unblock'>;
  logger: Logger;
}

export interface SelfFence {
  /** Postgres has heard of this host, no earlier than at this moment by the process's own clock. */
  renewed(sinceMs: number): void;
  /** Aborted while this host holds still; ask anew after every wait. */
  fencedSignal(): AbortSignal;
  /** Resolves when it does not. */
  untilUnfenced(signal: AbortSignal): Promise<void>;
  /** Watches until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

export function createSelfFence(deps: FenceDeps): SelfFence {
  const { times, logger } = deps;
  const tickMs = times.renewMs / 5;
  const paused = new Set<string>();
  let renewedAt = performance.now();
  let fenced = new AbortController();

  /** Again and again: a sandbox may have been on its way when the first look was taken. */
  async function fence(): Promise<void> {
    if (!fenced.signal.aborted) {
      logger.error({ silentMs: Math.round(performance.now() - renewedAt) }, 'host_fenced');
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
    if (performance.now() - renewedAt > times.fenceMs) return fence();
    if (fenced.signal.aborted) return unfence();
  }

  return {
    renewed(sinceMs) {
      renewedAt = Math.max(renewedAt, sinceMs);
    },
    fencedSignal: () => fenced.signal,
    async untilUnfenced(signal) {
      while (fenced.signal.aborted && !signal.aborted) await sleep(tickMs, signal);
    },
    async run(signal) {
      // What was taken up before was taken up from Postgres; only now does anybody say that we are here.
      renewedAt = performance.now();
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

/** All are tried, whatever becomes of one; the next look is taken soon. */
async function forEach(
  sandboxes: ListedSandbox[],
  act: (sandbox: ListedSandbox) => Promise<void>,
): Promise<void> {
  const tried = await Promise.allSettled(sandboxes.map(act));
  const failed = tried.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
