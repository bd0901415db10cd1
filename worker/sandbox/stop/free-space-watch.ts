// Keeps a reserve of free space on the disk that all sandboxes of a host share. Counting a working
// directory takes seconds, and a sandbox can fill the disk meanwhile. So the free space itself is
// read ten times a second. If it is below the reserve, all sandboxes are paused, so that nothing is
// written while they are measured. The one that wrote most is ended, the others continue.
//
// Its files are removed only after its end. Until then the next sandbox is ended only if the free
// space has fallen further.

import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import { limits } from '../../../core/limits.ts';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import type { Sandboxes } from '../../../systems/docker/sandboxes.ts';
import { sandboxKey } from '../sandbox-key.ts';
import type { SupervisedSandbox } from '../supervised-sandbox.ts';
import { diskUsage } from '../workspace/disk-usage.ts';

interface FreeSpaceDeps {
  hostId: string;
  dataDir: string;
  diskReserveBytes: number;
  sandboxes: Pick<Sandboxes, 'list' | 'pause' | 'unpause'>;
  logger: Logger;
}

/** A tree that takes longer to count is treated as if it had not grown. */
const usageTimeoutMs = 2_000;
/** What other programs may write while a sandbox runs alone. */
const aloneMinBytes = 1024 ** 2;
/** The next sandbox is ended after the free space has fallen by this part of the reserve. */
const stepsPerReserve = 8;

/** Watches until the signal, and rests while no sandbox is live. */
export async function watchFreeSpace(
  deps: FreeSpaceDeps,
  live: () => SupervisedSandbox[],
  signal: AbortSignal,
): Promise<void> {
  const { dataDir, diskReserveBytes: reserve, logger } = deps;
  let mark = reserve;
  async function check(): Promise<void> {
    const before = await freeBytes(dataDir);
    if (before >= reserve) mark = reserve;
    if (before >= mark) return;
    await endLargestWriter(deps, { live: live(), before }, signal);
    mark = Math.min(mark, (await freeBytes(dataDir)) - reserve / stepsPerReserve);
  }
  while (!signal.aborted) {
    if (live().length > 0)
      await check().catch((err: unknown) => logger.warn({ err }, 'disk_check_failed'));
    await sleep(limits.host.diskCheckMs, signal);
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function endLargestWriter(
  deps: FreeSpaceDeps,
  { live, before }: { live: SupervisedSandbox[]; before: number },
  signal: AbortSignal,
): Promise<void> {
  const running = await pauseRunning(deps);
  let ended: SupervisedSandbox | null = null;
  try {
    const measured = await Promise.all(live.map(measure));
    ended = await findLargestWriter(deps, { measured, running });
    const writers = measured.map(({ sandbox: { ref }, grownBytes }) => {
      return { runId: ref.runId, grownBytes };
    });
    const about = { freeBytes: before, runId: ended?.ref.runId ?? null };
    deps.logger.error({ ...about, writers: writers.slice(0, 3) }, 'host_disk_full');
    ended?.disk.end();
  } finally {
    // The one that is ended stays paused until it is killed.
    const kept = running.filter((one) => ended === null || !isOf(one, ended));
    await Promise.allSettled(kept.map((one) => unpause(deps, one, signal)));
  }
}

/** A busy engine may fail. Tried once even at shutdown; then the next process unpauses it. */
function unpause(
  { sandboxes, logger }: FreeSpaceDeps,
  { containerId }: ListedSandbox,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (err: unknown): void => logger.warn({ err }, 'sandbox_unpause_failed');
  const retry = () =>
    retryUntilAborted(() => sandboxes.unpause(containerId), { signal, onFailure });
  return sandboxes.unpause(containerId).catch(retry);
}

const isOf = (one: ListedSandbox, { ref }: SupervisedSandbox): boolean =>
  sandboxKey(one) === sandboxKey(ref);

/** Returns those that ran. A sandbox that cannot be paused is measured while it runs. */
async function pauseRunning({ sandboxes, hostId }: FreeSpaceDeps): Promise<ListedSandbox[]> {
  const listed = await sandboxes.list();
  const running = listed.filter((one) => one.hostId === hostId && one.state === 'running');
  await Promise.allSettled(running.map(({ containerId }) => sandboxes.pause(containerId)));
  return running;
}

interface Measured {
  sandbox: SupervisedSandbox;
  grownBytes: number;
  /** By how much it exceeds the limit of a working directory. */
  excessBytes: number;
}

async function measure(sandbox: SupervisedSandbox): Promise<Measured> {
  const { paths, maxBytes, lastBytes } = sandbox.disk;
  const usage = await diskUsage(paths, usageTimeoutMs);
  if (usage === null || usage === 'timeout') return { sandbox, grownBytes: 0, excessBytes: 0 };
  const excessBytes = Math.max(0, usage.bytes - maxBytes);
  return { sandbox, grownBytes: usage.bytes - lastBytes(), excessBytes };
}

/**
 * Files that were deleted while they are open are in no directory. So if no directory has grown
 * enough, each sandbox runs alone for a moment, and the free space shows what it writes.
 */
async function findLargestWriter(
  deps: FreeSpaceDeps,
  { measured, running }: { measured: Measured[]; running: ListedSandbox[] },
): Promise<SupervisedSandbox | null> {
  measured.sort((a, b) => b.excessBytes - a.excessBytes || b.grownBytes - a.grownBytes);
  const [most] = measured;
  if (most === undefined) return null;
  const clearlyBytes = deps.diskReserveBytes / stepsPerReserve;
  if (most.excessBytes > 0 || most.grownBytes >= clearlyBytes) return most.sandbox;
  let found = { sandbox: most.grownBytes > 0 ? most.sandbox : null, bytes: aloneMinBytes };
  for (const { sandbox } of measured) {
    const own = running.find((one) => isOf(one, sandbox));
    const bytes = own === undefined ? 0 : await writtenAlone(deps, own);
    if (bytes > found.bytes) found = { sandbox, bytes };
  }
  return found.sandbox;
}

async function writtenAlone(
  { sandboxes, dataDir }: FreeSpaceDeps,
  { containerId }: ListedSandbox,
): Promise<number> {
  const before = await freeBytes(dataDir);
  await sandboxes.unpause(containerId);
  await sleep(limits.host.diskCheckMs);
  await sandboxes.pause(containerId);
  return before - (await freeBytes(dataDir));
}
