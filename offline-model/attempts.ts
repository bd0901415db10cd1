const maxKeys = 10_000;

export interface Attempts {
  /** Returns how often this key was counted before. */
  count(key: string): number;
}

/**
 * Counts requests per reply, so that a scripted fault ends. Forgets the least recently used keys.
 */
export function createAttempts(): Attempts {
  const counts = new Map<string, number>();
  return {
    count(key) {
      const before = counts.get(key) ?? 0;
      counts.delete(key);
      counts.set(key, before + 1);
      const oldest = counts.keys().next().value;
      if (counts.size > maxKeys && oldest !== undefined) counts.delete(oldest);
      return before;
    },
  };
}
