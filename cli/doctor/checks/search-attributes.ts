import { type Check, notHere, seen } from '../types.ts';

export const searchAttributes: Check = {
  name: 'search attributes',
  needs: ['temporal'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'search_attributes_unknown',
    what: 'Temporal does not say which search attributes it knows',
    advice: 'Let this command list them, or see the log of Temporal.',
  },
  async look({ temporal, mends, config }) {
    if (temporal === null) return notHere('TEMPORAL_ADDRESS is not set here');
    const missing = await temporal.missingSearchAttributes();
    if (missing.length === 0) return seen([]);
    const namespace = config.temporal?.namespace ?? 'default';
    return seen([], {
      code: 'search_attributes_missing',
      what: `Temporal’s namespace ${namespace} does not know ${missing.join(', ')}: runs start without, and are not found by them.`,
      advice:
        'A worker registers them at its start; where its log says search_attributes_refused, make them by hand as docs/temporal-ui.md has it.',
      mend: mends.registerSearchAttributes,
    });
  },
};
