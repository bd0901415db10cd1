import type { Logger } from 'pino';
import { limits } from '../../core/limits.ts';
import type { DataDirLock } from './data-dir-lock.ts';

/**
 * A process that was frozen while its folder was given to another has nothing more to say: it goes
 * before it can take from the other what both call theirs.
 */
export function exitWhenLockLost(folder: DataDirLock, logger: Logger): void {
  const watch = setInterval(() => {
    if (folder.isHeld()) return;
    logger.fatal({ hostId: folder.hostId }, 'data_dir_lock_lost');
    process.exit(1);
  }, limits.dataDirLockCheckMs);
  watch.unref();
}
