import { type Check, checked, skipped } from '../types.ts';

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
