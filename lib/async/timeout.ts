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

/** The promise's result, or a rejection after the time. The work itself is not cancelled. */
export async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const timedOut = sleep(ms, settled.signal).then(() => {
    throw new Error(`no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    timedOut.catch(() => undefined);
    settled.abort();
  }
}
