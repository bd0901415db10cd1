// Watches the free space on the disk of Postgres. Postgres stops when its disk is full, and then
// nothing can be read or ended. So new data is rejected before that, and active runs can end and be
// deleted. The space is read periodically, because a request must not wait for a disk that hangs.

import { statfs } from 'node:fs/promises';
import type { FastifyBaseLogger } from 'fastify';
import { limits } from '../core/limits.ts';
import { sleep } from '../lib/async/sleep.ts';

interface PostgresDiskDeps {
  /** A directory on that disk; null if none is configured. */
  dir: string | null;
  /** With less free space, new data is rejected. */
  reserveBytes: number;
  logger: Pick<FastifyBaseLogger, 'error' | 'info' | 'warn'>;
  /** Called after each reading of too little free space. */
  onShort?: () => void;
}

interface DiskSpace {
  freeBytes: number;
  reserveBytes: number;
}

export interface PostgresDisk {
  /** The last reading; null if no directory is configured, or if it cannot be read. */
  last(): DiskSpace | null;
  /** False while the free space is unknown. */
  isShort(): boolean;
  read(): Promise<void>;
  /** Reads periodically until the signal. */
  watch(signal: AbortSignal): Promise<void>;
}

export function createPostgresDisk(deps: PostgresDiskDeps): PostgresDisk {
  const { dir, reserveBytes, logger, onShort } = deps;
  let last: DiskSpace | null = null;
  let isUnknown = false;
  const isShort = (): boolean => last !== null && last.freeBytes < reserveBytes;

  async function read(): Promise<void> {
    if (dir === null) return;
    const wasShort = isShort();
    try {
      const { bavail, bsize } = await statfs(dir);
      last = { freeBytes: bavail * bsize, reserveBytes };
      isUnknown = false;
    } catch (err) {
      if (!isUnknown) logger.warn({ err, dir }, 'postgres_disk_unknown');
      last = null;
      isUnknown = true;
    }
    if (isShort()) onShort?.();
    if (isShort() && !wasShort) logger.error(last, 'postgres_disk_short');
    if (!isShort() && wasShort) logger.info(last, 'postgres_disk_recovered');
  }

  async function watch(signal: AbortSignal): Promise<void> {
    if (dir === null) return;
    while (!signal.aborted) {
      await sleep(limits.postgres.diskCheckMs, signal);
      await read();
    }
  }
  return { last: () => last, isShort, read, watch };
}
