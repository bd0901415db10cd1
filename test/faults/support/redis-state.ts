import { connectRedis } from '../../../systems/redis/connect.ts';
import { stackEnv } from '../../support/stack-env.ts';

/** What Redis holds for one instance of the service. */
export interface RedisState {
  keys(): Promise<string[]>;
  /** Channels with a subscriber. */
  channels(): Promise<string[]>;
  connections(): Promise<number>;
  /** Every key is by so much nearer to its end, and gone where it has reached it. */
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

/** The clock of Redis cannot be set; how long a key still has can. Without an end it stays. */
const letPassScript = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[2]) end
end
return 1
`;
