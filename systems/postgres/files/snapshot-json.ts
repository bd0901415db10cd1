import type { Snapshot } from '../../../core/files/file-entry.ts';
import { limits } from '../../../core/limits.ts';

/**
 * For the SQL functions that store a snapshot, with what its limits leave for previous versions.
 */
export function snapshotJson({ files, links, folders, changed }: Snapshot): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const { maxBytes, maxFiles } = limits.snapshot;
  return JSON.stringify({
    ...{ files, links, folders, changed },
    bytesLeft: maxBytes - bytes,
    filesLeft: maxFiles - files.length - links.length,
  });
}
