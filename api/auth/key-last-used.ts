import { limits } from '../../core/limits.ts';

export interface KeyLastUsed {
  record: (keyId: string) => void;
  /** Writes down what is left. */
  close: () => Promise<void>;
}

export interface KeyLastUsedDeps {
  keys: { touch: (keyIds: string[]) => Promise<void> };
  onError: (error: unknown) => void;
}

/**
 * Gathers which keys were used and writes them down together: a write for every call would make
 * all calls with one key wait for each other.
 */
export function createKeyLastUsed({ keys, onError }: KeyLastUsedDeps): KeyLastUsed {
  let used = new Set<string>();
  let writing = Promise.resolve();

  function write(): Promise<void> {
    const keyIds = [...used];
    used = new Set();
    if (keyIds.length > 0) writing = writing.then(() => keys.touch(keyIds)).catch(onError);
    return writing;
  }

  const timer = setInterval(() => void write(), limits.keyTouchEveryMs);
  timer.unref();
  return {
    record: (keyId) => void used.add(keyId),
    close() {
      clearInterval(timer);
      return write();
    },
  };
}
