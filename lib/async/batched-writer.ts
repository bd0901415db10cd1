interface BatchedWriter<T> {
  add: (key: string, entry: T) => void;
  /** Writes the remaining entries. */
  close: () => Promise<void>;
}

interface BatchedWriterOptions<T> {
  everyMs: number;
  /** Combines two entries of the same key. */
  merge: (before: T, entry: T) => T;
  write: (entries: T[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/**
 * Collects entries by key and writes all of them at an interval, one batch at a time. Entries of a
 * failed batch are written with the next one. Unwritten entries are lost with the process.
 */
export function createBatchedWriter<T>(options: BatchedWriterOptions<T>): BatchedWriter<T> {
  const { everyMs, merge, write, onError } = options;
  let collected = new Map<string, T>();
  let writing = Promise.resolve();

  function add(key: string, entry: T): void {
    const before = collected.get(key);
    collected.set(key, before === undefined ? entry : merge(before, entry));
  }

  async function flush(): Promise<void> {
    if (collected.size === 0) return;
    const batch = collected;
    collected = new Map();
    try {
      await write([...batch.values()]);
    } catch (error) {
      for (const [key, entry] of batch) add(key, entry);
      onError(error);
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(flush);
  }, everyMs);
  timer.unref();
  return {
    add,
    async close() {
      clearInterval(timer);
      await writing;
      await flush();
    },
  };
}
