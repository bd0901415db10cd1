// Keeps a reserve of free space and free inodes on the disk that all sandboxes of a host share.
// Counting a working directory takes seconds, and a sandbox can fill the disk meanwhile. So the
// free space itself is read ten times a second. If it is below the reserve, all sandboxes are
// paused, so that nothing is written while they are measured. The one that wrote most is ended, the
// others continue.
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
import { type DiskUsage, diskUsage } from '../workspace/disk-usage.ts';

interface FreeSpaceDeps {
  hostId: string;
  dataDir: string;
  diskReserve: DiskUsage;
  sandboxes: Pick<Sandboxes, 'list' | 'pause' | 'unpause'>;
  logger: Logger;
}

type Resource = keyof DiskUsage;

interface Shortage {
  live: SupervisedSandbox[];
  resource: Resource;
  free: DiskUsage;
}

/** A tree that takes longer to count is treated as if it had not grown. */
const usageTimeoutMs = 2_000;
/** What other programs may use up while a sandbox runs alone. */
const aloneMin: DiskUsage = { bytes: 1024 ** 2, inodes: 100 };
/** The next sandbox is ended after the free space has fallen by this part of the reserve. */
const stepsPerReserve = 8;

/** Watches until the signal, and rests while no sandbox is live. */
export async function watchFreeSpace(
  deps: FreeSpaceDeps,
  live: () => SupervisedSandbox[],
  signal: AbortSignal,
): Promise<void> {
  const { dataDir, diskReserve: reserve, logger } = deps;
  const marks = { ...reserve };
  async function check(resource: Resource, free: DiskUsage): Promise<void> {
    if (free[resource] >= reserve[resource]) marks[resource] = reserve[resource];
    if (free[resource] >= marks[resource]) return;
    await endLargestWriter(deps, { live: live(), resource, free }, signal);
    const left = (await freeSpace(dataDir))[resource];
    marks[resource] = Math.min(marks[resource], left - reserve[resource] / stepsPerReserve);
  }
  async function checkAll(): Promise<void> {
    const free = await freeSpace(dataDir);
    await check('bytes', free);
    await check('inodes', free);
  }
  while (!signal.aborted) {
    if (live().length > 0)
      await checkAll().catch((err: unknown) => logger.warn({ err }, 'disk_check_failed'));
    await sleep(limits.host.diskCheckMs, signal);
  }
}

/** Inodes are infinite if the file system has no fixed number of them. */
async function freeSpace(folder: string): Promise<DiskUsage> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return { bytes: bavail * bsize, inodes: files === 0 ? Number.POSITIVE_INFINITY : ffree };
}

async function endLargestWriter(
  deps: FreeSpaceDeps,
  { live, resource, free }: Shortage,
  signal: AbortSignal,
): Promise<void> {
  const running = await pauseRunning(deps);
  let ended: SupervisedSandbox | null = null;
  try {
    const measured = await Promise.all(live.map((one) => measure(one, resource)));
    ended = await findLargestWriter(deps, { measured, running, resource });
    const writers = measured.map(({ sandbox: { ref }, grown }) => ({ runId: ref.runId, grown }));
    const about = { resource, free, runId: ended?.ref.runId ?? null };
    deps.logger.error({ ...about, writers: writers.slice(0, 3) }, 'host_disk_full');
    ended?.disk.end(resource);
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

/** Amounts of the resource that is short. */
interface Measured {
  sandbox: SupervisedSandbox;
  grown: number;
  /** By how much it exceeds the limit of a working directory. */
  excess: number;
}

async function measure(sandbox: SupervisedSandbox, resource: Resource): Promise<Measured> {
  const { paths, max, last } = sandbox.disk;
  const usage = await diskUsage(paths, usageTimeoutMs);
  if (usage === null || usage === 'timeout') return { sandbox, grown: 0, excess: 0 };
  const excess = Math.max(0, usage[resource] - max[resource]);
  return { sandbox, grown: usage[resource] - last()[resource], excess };
}

/**
 * Files that were deleted while they are open are in no directory. So if no directory has grown
 * enough, each sandbox runs alone for a moment, and the free space shows what it writes.
 */
async function findLargestWriter(
  deps: FreeSpaceDeps,
  found: { measured: Measured[]; running: ListedSandbox[]; resource: Resource },
): Promise<SupervisedSandbox | null> {
  const { measured, running, resource } = found;
  measured.sort((a, b) => b.excess - a.excess || b.grown - a.grown);
  const [most] = measured;
  if (most === undefined) return null;
  const clearly = deps.diskReserve[resource] / stepsPerReserve;
  if (most.excess > 0 || most.grown >= clearly) return most.sandbox;
  let largest = { sandbox: most.grown > 0 ? most.sandbox : null, amount: aloneMin[resource] };
  for (const { sandbox } of measured) {
    const own = running.find((one) => isOf(one, sandbox));
    const amount = own === undefined ? 0 : (await usedUpAlone(deps, own))[resource];
    if (amount > largest.amount) largest = { sandbox, amount };
  }
  return largest.sandbox;
}

async function usedUpAlone(
  { sandboxes, dataDir }: FreeSpaceDeps,
  { containerId }: ListedSandbox,
): Promise<DiskUsage> {
  const before = await freeSpace(dataDir);
  await sandboxes.unpause(containerId);
  await sleep(limits.host.diskCheckMs);
  await sandboxes.pause(containerId);
  const after = await freeSpace(dataDir);
  return { bytes: before.bytes - after.bytes, inodes: before.inodes - after.inodes };
}
