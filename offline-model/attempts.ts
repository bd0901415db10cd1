const maxKept = 10_000;

export interface Attempts {
  /** How often this key was taken before. */
  take(key: string): number;
}

/** Counts how often a reply was asked for, so that a scripted fault ends; the longest unused are forgotten. */
export function createAttempts(): Attempts {
  const counts = new Map<string, number>();
  return {
    take(key) {
      const before = counts.get(key) ?? 0;
      counts.delete(key);
      counts.set(key, before + 1);
      const oldest = counts.keys().next().value;
      if (counts.size > maxKept && oldest !== undefined) counts.delete(oldest);
      return before;
    },
  };
}
