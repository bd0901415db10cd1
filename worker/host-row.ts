import type { Logger } from 'pino';
import { limits } from '../core/limits.ts';
import type { HostStore } from '../systems/postgres/host-store.ts';
import { pause } from './supervisor/wait.ts';

export interface HostRow {
  hosts: Pick<HostStore, 'renew'>;
  host: { hostId: string; name: string; capacity: number };
  logger: Logger;
  everyMs?: number;
}

/** Says every few seconds that this host is there; a database that is away is asked again. */
export async function keepHostRow(row: HostRow, signal: AbortSignal): Promise<void> {
  const { hosts, host, logger, everyMs = limits.hostRenewMs } = row;
  while (!signal.aborted) {
    await hosts
      .renew(host)
      .catch((error: unknown) => logger.warn({ err: error }, 'host_not_renewed'));
    await pause(everyMs, signal);
  }
}
