import { hostThresholds } from '../../../core/hosts/host-thresholds.ts';
import { limits } from '../../../core/limits.ts';
import { type Check, checked } from '../types.ts';
import { isLive } from './hosts.ts';

/**
 * Compares the connections that the service may open with those that the server allows. A worker
 * reports its own maximum. API processes do not register: each address with an API counts as one
 * process with the setting of this machine, and there is at least one. Other programs count with
 * the connections that they have open now.
 */
export const connectionsCheck: Check = {
  name: 'connections',
  needs: ['schema'],
  onError: {
    code: 'connections_unknown',
    message: 'The connections of Postgres cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run({ config, hosts, postgres }) {
    const { staleMs } = hostThresholds(config.times.hostLostMs);
    const all = await hosts.list();
    const workers = all.filter((host) => isLive(host, staleMs) || host.used > 0);
    const { available, others, apiAddresses } = await postgres.connectionUse();
    const apis = Math.max(1, apiAddresses);
    const ofWorkers = workers.reduce(
      (sum, { report }) => sum + (report?.postgresConnections ?? limits.postgres.connections),
      0,
    );
    const needed = apis * config.apiConnections + ofWorkers;
    const parts = `APIs: ${apis}, workers: ${workers.length}`;
    if (needed + others <= available)
      return checked([`${parts}: up to ${needed}`, `others: ${others}`, `${available} allowed`]);
    return checked([], {
      code: 'connections_short',
      message: `The service may open ${needed} connections to Postgres (${parts}) and other programs have ${others} open, but the server allows ${available}.`,
      advice:
        'Raise max_connections of Postgres, or lower API_POSTGRES_CONNECTIONS and WORKER_POSTGRES_CONNECTIONS. Without a connection, hosts miss their heartbeats.',
    });
  },
};
