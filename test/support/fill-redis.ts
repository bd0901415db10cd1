import type { Redis } from '../../systems/redis/connect.ts';
import { readMemoryUse } from '../../systems/redis/memory-use.ts';

const miB = 1024 ** 2;

/**
 * Sets the limit of a Redis of the test's own to 1 MiB less than it uses. It stays full when its
 * connections release their buffers. Returns a function that sets the former limit.
 */
export async function fillRedis(redis: Redis): Promise<() => Promise<void>> {
  const limitBytes = (await readMemoryUse(redis))?.limitBytes ?? 0;
  const setLimit = (bytes: number) => redis.config('SET', 'maxmemory', String(bytes));
  await setLimit(0);
  await redis.setrange('ballast', 4 * miB, 'x');
  const usedBytes = (await readMemoryUse(redis))?.usedBytes ?? 0;
  await setLimit(usedBytes - miB);
  return async () => {
    await setLimit(limitBytes);
    await redis.del('ballast');
  };
}
