/** Lets work on one key through one at a time, in the order of asking; keys do not wait for others. */
export interface KeyedMutex {
  runExclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when everything that has asked by now is through. */
  drain(): Promise<void>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    async runExclusive(key, work) {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
    async drain() {
      await Promise.allSettled(last.values());
    },
  };
}
