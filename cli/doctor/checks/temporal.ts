import { type Check, notHere, seen } from '../types.ts';

export const temporal: Check = {
  name: 'temporal',
  store: 'temporal',
  needs: [],
  ifItFails: {
    code: 'temporal_away',
    what: 'Temporal does not answer',
    advice:
      'Start Temporal, or correct TEMPORAL_ADDRESS. Runs are admitted meanwhile, and begin when it is back.',
  },
  async look({ temporal: asked, config }) {
    if (asked === null) return notHere('TEMPORAL_ADDRESS is not set here');
    const from = performance.now();
    const { version, hasNamespace } = await asked.facts();
    const said = [version, `${Math.round(performance.now() - from)} ms`];
    if (hasNamespace) return seen(said);
    const namespace = config.temporal?.namespace ?? 'default';
    return seen(said, {
      code: 'namespace_missing',
      what: `Temporal has no namespace ${namespace}.`,
      advice: `Make it with \`temporal operator namespace create -n ${namespace}\`, or correct TEMPORAL_NAMESPACE.`,
    });
  },
};
