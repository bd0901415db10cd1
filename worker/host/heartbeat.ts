import type { Logger } from 'pino';
import type { HostHealth } from '../../core/hosts/host-health.ts';
import type { HostModel } from '../../core/hosts/host-model.ts';
import { sleep } from '../../lib/async/sleep.ts';
import { withTimeout } from '../../lib/async/timeout.ts';
import type { HostStore } from '../../systems/postgres/hosts/host-store.ts';
import { type ClockReading, readClocks } from './clocks.ts';
import type { LossDetector } from './detect-loss.ts';
import { createModelLog } from './model-log.ts';

export interface HeartbeatOptions {
  hosts: Pick<HostStore, 'renew' | 'markStopped'>;
  host: {
    hostId: string;
    name: string;
    capacity: number;
    model: HostModel;
    owner: string;
    leaseMs: number;
  };
  losses: LossDetector;
  /** Null until the first probe. */
  lastHealth(): HostHealth | null;
  logger: Logger;
  everyMs: number;
  /** Called after each successful heartbeat with the time it was sent. */
  onRenewed: readonly ((sentAt: ClockReading) => void)[];
  /** Called with each heartbeat while runs wait for a slot. */
  onWaiting(): void;
  /** Called if another worker uses the host's ID. */
  onTaken(): void;
}

/**
 * Renews the host's heartbeat every few seconds, also after a failure. At the signal the host is
 * recorded as stopped, unless another worker uses its ID. This comes after the last heartbeat,
 * which would revert it.
 */
export async function runHeartbeat(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const logModel = createModelLog(options.host.model, options.logger);
  while (!signal.aborted) {
    const sentAt = readClocks();
    try {
      const renewed = await renew(options, signal);
      if (renewed === 'taken') return options.onTaken();
      if (renewed === 'checked') continue;
      logModel(renewed.offersModel);
      for (const notify of options.onRenewed) notify(sentAt);
      if (renewed.hasWaiting) options.onWaiting();
    } catch (err) {
      options.logger.warn({ err }, 'host_heartbeat_failed');
    }
    await sleep(options.everyMs, signal);
  }
  await markStopped(options);
}

/** `checked`: the database had to be checked first. The next heartbeat can be sent at once. */
async function renew({ hosts, host, losses, lastHealth }: HeartbeatOptions, signal: AbortSignal) {
  const renewed = await hosts.renew({ ...host, report: lastHealth(), known: losses.known() });
  if (renewed === null) return (await losses.check(signal)) === 'unchanged' ? 'taken' : 'checked';
  void losses.remember(renewed.known); // a slow disk delays no heartbeat
  return renewed;
}

/** A shutdown waits at most this long for Postgres. */
const markStoppedWithinMs = 5_000;

async function markStopped({ hosts, host, logger }: HeartbeatOptions): Promise<void> {
  try {
    await withTimeout(markStoppedWithinMs, hosts.markStopped(host.hostId));
    logger.info({ hostId: host.hostId }, 'host_stopped');
  } catch (err) {
    // Other workers still detect the missing heartbeats.
    logger.warn({ err }, 'host_stop_write_failed');
  }
}
