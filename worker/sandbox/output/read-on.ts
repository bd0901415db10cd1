import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';

export class SpoolUnreadable extends Error {
  override name = 'SpoolUnreadable';
}

/** A disk may fail for a while; where it goes on failing, that is thrown as what it is. */
export async function readWithRetry<T>(
  work: () => Promise<T>,
  { retry, withinMs }: { retry: RetryPolicy; withinMs: number },
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    retry.onFailure(error, 1);
  }
  const tooLong = AbortSignal.timeout(withinMs);
  const signal = AbortSignal.any([retry.signal, tooLong]);
  try {
    return await retryUntilAborted(work, { ...retry, signal });
  } catch (error) {
    if (tooLong.aborted) throw new SpoolUnreadable('the spool cannot be read', { cause: error });
    throw error;
  }
}
