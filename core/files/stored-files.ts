import type { SkippedEntries } from './file-entry.ts';

/** The stored state of a run's working directory, as clients see it. */
export interface StoredFiles extends SkippedEntries {
  /** `partial`: some entries were not stored. `failed`: the final state is not stored. */
  state: 'stored' | 'partial' | 'failed';
}

/**
 * Null if there was nothing to store. `last` has the entries that the last stored snapshot omitted.
 */
export function storedFilesOf(
  last: SkippedEntries | null,
  hasUnstoredFiles: boolean,
): StoredFiles | null {
  if (last === null && !hasUnstoredFiles) return null;
  const { skippedCount, skipped } = last ?? { skippedCount: 0, skipped: [] };
  if (hasUnstoredFiles) return { state: 'failed', skippedCount, skipped };
  return { state: skippedCount === 0 ? 'stored' : 'partial', skippedCount, skipped };
}
