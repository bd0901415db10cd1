/** Lets work on one key through one at a time, in the order of asking; keys do not wait for others. */
export interface Turnstile {
  pass<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when everything that has asked by now is through. */
  idle(): Promise<void>;
}

export function createTurnstile(): Turnstile {
  const last = new Map<string, Promise<unknown>>();
  return {
    async pass(key, work) {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
    async idle() {
      await Promise.allSettled(last.values());
    },
  };
}
