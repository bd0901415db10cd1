import type { Logger } from 'pino';
import type { HostReport } from '../../core/hosts/host-report.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { HostStore } from '../../systems/postgres/hosts/host-store.ts';

export interface HostRow {
  hosts: Pick<HostStore, 'renew'>;
  host: { hostId: string; name: string; capacity: number };
  /** Null until it has looked. */
  lastReport(): HostReport | null;
  logger: Logger;
  everyMs: number;
  /** Told when the question was asked that the database has answered. */
  onHeard: readonly ((askedAtMs: number) => void)[];
}

/** Says every few seconds that this host is there; a database that is away is asked again. */
export async function keepHostRow(row: HostRow, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const askedAtMs = performance.now();
    try {
      await row.hosts.renew({ ...row.host, report: row.lastReport() });
      for (const tell of row.onHeard) tell(askedAtMs);
    } catch (err) {
      row.logger.warn({ err }, 'host_not_renewed');
    }
    await sleep(row.everyMs, signal);
  }
}
