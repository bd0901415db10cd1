import { sleep } from './sleep.ts';

/** True if the promise settles within the time, fulfilled or rejected. */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController();
  const inTime = promise.then(
    () => true,
    () => true,
  );
  const timedOut = sleep(ms, settled.signal).then(() => false);
  const result = await Promise.race([inTime, timedOut]);
  settled.abort();
  return result;
}
