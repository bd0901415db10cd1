import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import { createTemporal } from '../../systems/temporal/client.ts';
import { type Service, startService } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** The API without a worker: runs are admitted and get slots, but do not start. */
export interface ApiAlone {
  service: Service;
  /**
   * Ends the workflows and deletes the runs, so that every measurement starts from the same state.
   */
  forgetRuns(): Promise<void>;
  stop(): Promise<void>;
}

const renewMs = 5_000;

export async function startApiAlone(env: Record<string, string> = {}): Promise<ApiAlone> {
  const service = await startService({ env: { LOG_LEVEL: 'info', ...env } });
  await service.worker.kill('SIGTERM');
  const { pool } = service.database;
  const hosts = createHostStore(pool);
  const host = { hostId: 'bench', name: 'bench', capacity: 100_000 };
  const renew = () => hosts.renew(host);
  await pool.query('delete from hosts');
  await renew();
  await pool.query('update projects set max_concurrent_runs = 100000');
  const renewal = setInterval(() => void renew(), renewMs);
  const temporal = createTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
    instance: service.instance,
  });

  async function forgetRuns(): Promise<void> {
    const { rows } = await pool.query<{ workflow_id: string }>('select workflow_id from runs');
    for (const { workflow_id: id } of rows) await temporal.terminate(id, 'measured');
    await pool.query('truncate runs, frames cascade');
  }

  return {
    service,
    forgetRuns,
    async stop() {
      clearInterval(renewal);
      await forgetRuns();
      await temporal.close();
      await service.stop();
    },
  };
}
