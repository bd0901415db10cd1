import { type Check, seen } from '../types.ts';

export const postgres: Check = {
  name: 'postgres',
  store: 'postgres',
  needs: [],
  ifItFails: {
    code: 'postgres_away',
    what: 'Postgres does not answer',
    advice:
      'Start Postgres, or correct DATABASE_URL. Until then nothing is admitted and nothing is read.',
  },
  async look(parts) {
    const from = performance.now();
    const version = await parts.postgres.version();
    return seen([version, `${Math.round(performance.now() - from)} ms`]);
  },
};
