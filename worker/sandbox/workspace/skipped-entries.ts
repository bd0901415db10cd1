import type { SkippedEntries } from '../../../core/files/file-entry.ts';
import { limits } from '../../../core/limits.ts';
import { truncateText } from '../../../core/sanitize-text.ts';

/** Counts the entries that a snapshot omits, and lists the first of them. */
export interface SkippedList extends SkippedEntries {
  add(path: string, reason: string): void;
}

const pathMaxChars = limits.file.pathMaxBytes;

export function createSkippedList(): SkippedList {
  const list: SkippedList = {
    skippedCount: 0,
    skipped: [],
    add(path, reason) {
      list.skippedCount += 1;
      if (list.skipped.length >= limits.snapshot.skippedMax) return;
      const isLong = path.length > pathMaxChars;
      list.skipped.push({ path: isLong ? truncateText(path, pathMaxChars) : path, reason });
    },
  };
  return list;
}
