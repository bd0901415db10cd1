import { connectRedis } from '../../../systems/redis/connect.ts';
import { stackEnv } from '../../support/stack-env.ts';

/** The keys and channels of one instance of the service in Redis. */
export interface RedisState {
  keys(): Promise<string[]>;
  /** Channels with a subscriber. */
  channels(): Promise<string[]>;
  connections(): Promise<number>;
  /** Shortens the time to live of every key by that much; expired keys are deleted. */
  letPass(ms: number): Promise<void>;
  close(): void;
}

export function readRedisState(instance: string): RedisState {
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'test', onError: () => undefined });
  const all = `frs:${instance}:*`;
  return {
    keys: async () => (await redis.keys(all)).sort(),
    channels: async () => ((await redis.pubsub('CHANNELS', all)) as string[]).sort(), // names
    async connections() {
      const clients = String(await redis.client('LIST')).split('\n');
      return clients.filter((line) => line.includes(` name=${instance}-`)).length;
    },
    async letPass(ms) {
      await redis.eval(letPassScript, 0, all, ms);
    },
    close: () => redis.disconnect(),
  };
}

/** The clock of Redis cannot be set, but the TTL of a key can. Keys without a TTL stay. */
const letPassScript = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[2]) end
end
return 1
`;
