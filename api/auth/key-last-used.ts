import { limits } from '../../core/limits.ts';
import { createBatchedWriter } from '../../lib/async/batched-writer.ts';

interface KeyLastUsed {
  record: (keyId: string) => void;
  /** Writes the remaining keys. */
  close: () => Promise<void>;
}

interface KeyLastUsedDeps {
  /** Returns the keys to write again. */
  keys: { touch: (keyIds: string[]) => Promise<string[]> };
  onError: (error: unknown) => void;
}

/**
 * Writes `lastUsedAt` in batches: a write for every call would serialize all calls with one key.
 */
export function createKeyLastUsed({ keys, onError }: KeyLastUsedDeps): KeyLastUsed {
  const writer = createBatchedWriter<string>({
    everyMs: limits.key.touchEveryMs,
    merge: (keyId) => keyId,
    async write(keyIds) {
      for (const locked of await keys.touch(keyIds)) writer.add(locked, locked);
    },
    onError,
  });
  return { record: (keyId) => writer.add(keyId, keyId), close: writer.close };
}
