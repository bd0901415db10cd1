interface Tally {
  count: (key: string) => number;
  /** Adds to the count of the key; a negative change subtracts. */
  add: (key: string, change: number) => void;
}

/** Counts by key. A count of 0 takes no memory. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  const count = (key: string): number => counts.get(key) ?? 0;
  return {
    count,
    add(key, change) {
      const next = count(key) + change;
      if (next === 0) counts.delete(key);
      else counts.set(key, next);
    },
  };
}
