import { hostThresholds } from '../../../core/hosts/host-thresholds.ts';
import { redisMaxMemory, redisMemoryFor, redisPolicy } from '../../../core/redis-memory.ts';
import { sizeOf } from '../advice.ts';
import { type Check, checked, counted, type Problem, skipped } from '../types.ts';
import { isLive } from './hosts.ts';

export const redisCheck: Check = {
  name: 'redis',
  store: 'redis',
  needs: [],
  onError: {
    code: 'redis_unreachable',
    message: 'Redis does not respond',
    advice:
      'Start Redis, or correct REDIS_URL. No data is lost meanwhile: streams are served from Postgres, more slowly, and each API process counts its own rate limits.',
  },
  async run(context) {
    if (context.redis === null) return skipped('REDIS_URL is not set here');
    const from = performance.now();
    const version = await context.redis.version();
    return checked([version ?? 'responds', `${Math.round(performance.now() - from)} ms`]);
  },
};

/** Compares the memory limit of Redis with what the slots of all live hosts may need. */
export const redisMemoryCheck: Check = {
  name: 'redis memory',
  needs: ['redis', 'schema'],
  onError: {
    code: 'redis_memory_unknown',
    message: 'The memory of Redis cannot be read',
    advice: 'Check the log of Redis.',
  },
  async run({ config, hosts, redis }) {
    const memory = await redis?.memory();
    if (!memory) return skipped('this Redis does not report its memory');
    const { staleMs } = hostThresholds(config.times.hostLostMs);
    const live = (await hosts.list()).filter((host) => isLive(host, staleMs));
    const slots = live.reduce((sum, { capacity }) => sum + capacity, 0);
    const { usedBytes, limitBytes, policy } = memory;
    if (limitBytes === null) return checked([`${sizeOf(usedBytes)} used`, 'no limit']);
    const found = [policy !== redisPolicy && evicting(policy), tooSmall(limitBytes, slots)];
    return checked(
      [`${sizeOf(usedBytes)} of ${sizeOf(limitBytes)} used`, policy],
      ...found.filter((problem) => problem !== false),
    );
  },
};

const evicting = (policy: string): Problem => ({
  code: 'redis_evicts',
  message: `Redis has the eviction policy ${policy}: when its memory is full, it deletes rate limits, and the record of which sessions have readers.`,
  advice: `Set maxmemory-policy of Redis to ${redisPolicy}. When it is full, streams then release the memory of their buffers.`,
});

function tooSmall(limitBytes: number, slots: number): Problem | false {
  const neededBytes = redisMemoryFor(slots);
  if (limitBytes >= neededBytes) return false;
  return {
    code: 'redis_memory_short',
    message: `Redis may use ${sizeOf(limitBytes)}, but ${counted(slots, 'slot')} may need ${sizeOf(neededBytes)}.`,
    advice: `Set maxmemory of Redis (REDIS_MAX_MEMORY with compose) to ${redisMaxMemory(slots)} or more. When Redis is full, no data is lost, but frames are read from Postgres.`,
  };
}
