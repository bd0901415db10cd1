import type { Host } from '../../../systems/postgres/host-store.ts';
import { type Check, counted, notHere, seen, type Trouble } from '../check.ts';

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
    const others = instancesOf(await hosts.list()).filter((name) => name !== config.instance);
    if (others.length > 0) return seen([], otherInstance(config.instance, others));
    const { workers: count } = await temporal.facts();
    if (count > 0) return seen([`${counted(count, 'worker')} asked for work lately`]);
    return seen([], {
      code: 'no_worker',
      what: `No worker of the instance ${config.instance} asks Temporal for work.`,
      advice:
        'Start a worker, and see its log if it does not stay. It has to have the same INSTANCE, TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE as the API.',
    });
  },
};

const instancesOf = (hosts: Host[]): string[] =>
  hosts.flatMap(({ report }) => (report === null ? [] : [report.instance]));

const otherInstance = (ours: string, others: string[]): Trouble => ({
  code: 'other_instance',
  what: `The hosts in this database are of the instance ${others.join(', ')}, and this command was told ${ours}.`,
  advice: 'Set INSTANCE as the API and the workers have it: they all have the same.',
});
