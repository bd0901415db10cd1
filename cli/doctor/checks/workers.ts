import { hostTimes } from '../../../core/host-times.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import { type Check, counted, notHere, type Problem, seen } from '../types.ts';

export const workers: Check = {
  name: 'workers',
  needs: ['schema', 'temporal'],
  ifItFails: {
    code: 'workers_unknown',
    what: 'Temporal does not say who asks for work',
    advice: 'See the log of Temporal.',
  },
  async look({ temporal, config, hosts }) {
    if (temporal === null) return notHere('TEMPORAL_ADDRESS is not set here');
    const all = await hosts.list();
    const others = instancesOf(all).filter((name) => name !== config.instance);
    if (others.length > 0) return seen([], otherInstance(config.instance, others));
    const { workers: count } = await temporal.facts();
    if (count === 0) return seen([], noWorker(config.instance, 'asks Temporal for work'));
    const { unseenMs } = hostTimes(config.times.hostLostMs);
    // Temporal remembers for minutes who has asked it; Postgres hears of each worker every few seconds.
    if (all.length > 0 && all.every(({ silentMs }) => silentMs >= unseenMs)) {
      return seen([], noWorker(config.instance, 'is heard of by Postgres any more'));
    }
    return seen([`${counted(count, 'worker')} asked for work within the last five minutes`]);
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
