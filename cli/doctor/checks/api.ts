import { type Check, seen } from '../types.ts';

export const api: Check = {
  name: 'api',
  needs: [],
  ifItFails: {
    code: 'api_away',
    what: 'No API answers',
    advice: 'Start the API and see its log, or correct PUBLIC_URL. What runs goes on without it.',
  },
  async look({ readiness, config }) {
    const answer = await readiness();
    if (answer.status === 200) return seen([`ready on ${config.publicUrl}`]);
    const why = answer.failed.length > 0 ? answer.failed.join(', ') : `HTTP ${answer.status}`;
    return seen([], {
      code: 'api_not_ready',
      what: `The API on ${config.publicUrl} is not ready: ${why}.`,
      advice:
        'Mend what is wrong below. Where all is well here, the API has other settings than this command: compare them.',
    });
  },
};
