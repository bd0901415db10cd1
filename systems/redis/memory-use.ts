import type { RedisMemory } from '../../core/redis-memory.ts';
import type { Redis } from './connect.ts';

/** Null if Redis does not report it, as some managed ones. */
export async function readMemoryUse(redis: Redis): Promise<RedisMemory | null> {
  await redis.ping();
  const info = await redis.info('memory').catch(() => '');
  const read = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const [used, limit, policy] = ['used_memory', 'maxmemory', 'maxmemory_policy'].map(read);
  if (used === undefined || limit === undefined || policy === undefined) return null;
  return { usedBytes: Number(used), limitBytes: Number(limit) || null, policy };
}
