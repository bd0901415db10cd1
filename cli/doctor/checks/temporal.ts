import { hostThresholds } from '../../../core/hosts/host-thresholds.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import { type Check, checked, counted, type Problem, skipped } from '../types.ts';

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
    if (asked === null) return skipped('TEMPORAL_ADDRESS is not set here');
    const from = performance.now();
    const { version, hasNamespace } = await asked.facts();
    const said = [version, `${Math.round(performance.now() - from)} ms`];
    if (hasNamespace) return checked(said);
    const namespace = config.temporal?.namespace ?? 'default';
    return checked(said, {
      code: 'namespace_missing',
      what: `Temporal has no namespace ${namespace}.`,
      advice: `Make it with \`temporal operator namespace create -n ${namespace}\`, or correct TEMPORAL_NAMESPACE.`,
    });
  },
};

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
    if (temporal === null) return skipped('TEMPORAL_ADDRESS is not set here');
    const missing = await temporal.missingSearchAttributes();
    if (missing.length === 0) return checked([]);
    const namespace = config.temporal?.namespace ?? 'default';
    return checked([], {
      code: 'search_attributes_missing',
      what: `Temporal’s namespace ${namespace} does not know ${missing.join(', ')}: runs start without, and are not found by them.`,
      advice:
        'A worker registers them at its start; where its log says search_attributes_refused, make them by hand as docs/temporal-ui.md has it.',
      mend: mends.registerSearchAttributes,
    });
  },
};

export const workers: Check = {
  name: 'workers',
  needs: ['schema', 'temporal'],
  ifItFails: {
    code: 'workers_unknown',
    what: 'Temporal does not say who asks for work',
    advice: 'See the log of Temporal.',
  },
  async look({ temporal, config, hosts }) {
    if (temporal === null) return skipped('TEMPORAL_ADDRESS is not set here');
    const all = await hosts.list();
    const others = instancesOf(all).filter((name) => name !== config.instance);
    if (others.length > 0) return checked([], otherInstance(config.instance, others));
    const { workers: count } = await temporal.facts();
    if (count === 0) return checked([], noWorker(config.instance, 'asks Temporal for work'));
    const { staleMs: unseenMs } = hostThresholds(config.times.hostLostMs);
    // Temporal remembers for minutes who has asked it; Postgres hears of each worker every few seconds.
    if (all.length > 0 && all.every(({ silentMs }) => silentMs >= unseenMs)) {
      return checked([], noWorker(config.instance, 'is heard of by Postgres any more'));
    }
    return checked([`${counted(count, 'worker')} asked for work within the last five minutes`]);
  },
};

const noWorker = (instance: string, does: string): Problem => ({
  code: 'no_worker',
  what: `No worker of the instance ${instance} ${does}.`,
  advice:
    'Start a worker, and see its log if it does not stay. It has to have the same INSTANCE, TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE as the API.',
});

const instancesOf = (hosts: Host[]): string[] =>
  hosts.flatMap(({ report }) => (report === null ? [] : [report.instance]));

const otherInstance = (ours: string, others: string[]): Problem => ({
  code: 'other_instance',
  what: `The hosts in this database are of the instance ${others.join(', ')}, and this command was told ${ours}.`,
  advice: 'Set INSTANCE as the API and the workers have it: they all have the same.',
});
