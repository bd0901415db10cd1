import { type Check, checked, skipped } from '../types.ts';

export const redis: Check = {
  name: 'redis',
  store: 'redis',
  needs: [],
  ifItFails: {
    code: 'redis_away',
    what: 'Redis does not answer',
    advice:
      'Start Redis, or correct REDIS_URL. Nothing is lost meanwhile: streams come from Postgres, more slowly, and each API counts its own rate limits.',
  },
  async look(parts) {
    if (parts.redis === null) return skipped('REDIS_URL is not set here');
    const from = performance.now();
    const version = await parts.redis.version();
    return checked([version ?? 'answers', `${Math.round(performance.now() - from)} ms`]);
  },
};
