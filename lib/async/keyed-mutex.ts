/** Runs work on one key one at a time, in the order of the calls. Keys do not block each other. */
export interface KeyedMutex {
  runExclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Whether work on the key is in progress. */
  isBusy(key: string): boolean;
  /** Resolves when all work that has been passed in so far has settled. */
  drain(): Promise<void>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    async runExclusive(key, work) {
      const previous = last.get(key) ?? Promise.resolve();
      const current = previous.then(work, work);
      last.set(key, current);
      try {
        return await current;
      } finally {
        if (last.get(key) === current) last.delete(key);
      }
    },
    isBusy: (key) => last.has(key),
    async drain() {
      await Promise.allSettled(last.values());
    },
  };
}
