// An API process sets this key while the disk of Postgres is short, because a worker may run on a
// machine that cannot read that disk. The key expires unless it is renewed.

import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { writeAlsoWhenFull } from './script-lines.ts';

export interface DiskNotice {
  /** Call again while the disk is short. A failure is ignored. */
  renew: () => void;
  /** False also if Redis is down. */
  isShort: () => Promise<boolean>;
}

export function createDiskNotice(redis: Redis, { instance }: { instance: string }): DiskNotice {
  const key = redisKeys(instance).postgresDiskShort;
  const ttlMs = limits.postgres.diskNoticeTtlMs;
  return {
    renew: () => void redis.eval(renewScript, 1, key, ttlMs).catch(() => undefined),
    isShort: async () => (await redis.exists(key).catch(() => 0)) === 1,
  };
}

const renewScript = `${writeAlsoWhenFull}
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return 1
`;
