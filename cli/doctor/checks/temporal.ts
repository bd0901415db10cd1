import { hostThresholds } from '../../../core/hosts/host-thresholds.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import { type Check, checked, counted, type Problem, withoutTemporal } from '../types.ts';
import { isLive } from './hosts.ts';

export const temporalCheck: Check = {
  name: 'temporal',
  store: 'temporal',
  needs: [],
  onError: {
    code: 'temporal_unreachable',
    message: 'Temporal does not respond',
    advice:
      'Start Temporal, or correct TEMPORAL_ADDRESS. Runs are still admitted; they start when Temporal is back.',
  },
  async run({ temporal, config }) {
    if (temporal === null) return withoutTemporal;
    const from = performance.now();
    const { version, hasNamespace } = await temporal.facts();
    const facts = [version, `${Math.round(performance.now() - from)} ms`];
    if (hasNamespace) return checked(facts);
    const namespace = config.temporal?.namespace ?? 'default';
    return checked(facts, {
      code: 'namespace_missing',
      message: `Temporal has no namespace ${namespace}.`,
      advice: `Create it with \`temporal operator namespace create -n ${namespace}\`, or correct TEMPORAL_NAMESPACE.`,
    });
  },
};

export const searchAttributesCheck: Check = {
  name: 'search attributes',
  needs: ['temporal'],
  fixNeeds: ['workers'],
  onError: {
    code: 'search_attributes_unknown',
    message: 'The search attributes cannot be listed',
    advice: 'Grant this client the right to list them, or check the log of Temporal.',
  },
  async run({ temporal, fixes, config }) {
    if (temporal === null) return withoutTemporal;
    const missing = await temporal.missingSearchAttributes();
    if (missing.length === 0) return checked([]);
    const namespace = config.temporal?.namespace ?? 'default';
    return checked([], {
      code: 'search_attributes_missing',
      message: `The namespace ${namespace} lacks the search attributes ${missing.join(', ')}. Runs start without them and cannot be found by them.`,
      advice:
        'A worker registers them when it starts. If its log says search_attribute_registration_failed, create them by hand: see docs/temporal-ui.md.',
      fix: fixes.registerSearchAttributes,
    });
  },
};

export const workersCheck: Check = {
  name: 'workers',
  needs: ['schema', 'temporal'],
  onError: {
    code: 'workers_unknown',
    message: 'The pollers of the task queue cannot be listed',
    advice: 'Check the log of Temporal.',
  },
  async run({ temporal, config, hosts }) {
    if (temporal === null) return withoutTemporal;
    const all = await hosts.list();
    const others = instancesOf(all).filter((name) => name !== config.instance);
    if (others.length > 0) return checked([], otherInstance(config.instance, others));
    const { workers: count } = await temporal.facts();
    if (count === 0) return checked([], noWorker(config.instance, 'polls Temporal'));
    const { staleMs } = hostThresholds(config.times.hostLostMs);
    // Temporal lists a poller for minutes after its last poll; heartbeats in Postgres are seconds
    // old.
    if (all.length > 0 && !all.some((host) => isLive(host, staleMs))) {
      return checked([], noWorker(config.instance, 'sends heartbeats to Postgres'));
    }
    return checked([`${counted(count, 'worker')} polled within the last five minutes`]);
  },
};

const noWorker = (instance: string, does: string): Problem => ({
  code: 'no_worker',
  message: `No worker of the instance ${instance} ${does}.`,
  advice:
    'Start a worker; if it exits, check its log. Its INSTANCE, TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE must match the API’s.',
});

const instancesOf = (hosts: Host[]): string[] =>
  hosts.flatMap(({ report }) => (report === null ? [] : [report.instance]));

const otherInstance = (ours: string, others: string[]): Problem => ({
  code: 'other_instance',
  message: `The hosts in this database belong to the instance ${others.join(', ')}, but INSTANCE is ${ours} here.`,
  advice: 'Set INSTANCE to the value that the API and the workers use.',
});
