/**
 * Shares one execution per key among all callers. Calls made during an execution share the next
 * one, which starts after they were made. Between two executions it idles for as long as the last
 * one took, so that the work uses at most half of the time.
 */
export function coalesce<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const executions = new Map<string, { finished: Promise<unknown>; next: Promise<T> | null }>();

  function start(key: string): Promise<T> {
    const startedAt = performance.now();
    const result = work(key);
    const finished = result.then(idle, idle).then(() => {
      if (executions.get(key)?.next === null) executions.delete(key);
    });
    executions.set(key, { finished, next: null });
    return result;

    function idle(): Promise<void> {
      return new Promise((resolve) => setTimeout(resolve, performance.now() - startedAt).unref());
    }
  }

  return (key) => {
    const execution = executions.get(key);
    if (execution === undefined) return start(key);
    execution.next ??= execution.finished.then(() => start(key));
    return execution.next;
  };
}
