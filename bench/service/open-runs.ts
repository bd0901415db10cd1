import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import { createTemporal } from '../../systems/temporal/client.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import type { BenchService } from './bench-service.ts';

/** Admits runs without starting them: a host that has no worker takes them all. */
interface OpenRuns {
  /** Ends the open runs. Their rows stay, and so do their workflows until `stop`. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

const renewMs = 5_000;
const atOnce = 4;

/** Stops the worker. */
export async function admitOnly({ worker, database, instance }: BenchService): Promise<OpenRuns> {
  await worker.kill('SIGTERM');
  const { pool } = database;
  const hosts = createHostStore(pool);
  const host = { hostId: 'bench', name: 'bench', capacity: 1_000_000 };
  const renew = () => hosts.renew(host);
  await pool.query('delete from hosts');
  await renew();
  const renewal = setInterval(() => void renew(), renewMs);
  const connection = { address: stackEnv.temporalAddress };
  const temporal = createTemporal({ namespace: 'default', connection, instance });

  return {
    async end() {
      await pool.query(
        `update runs
         set status = 'sleep', ended_at = db_clock(), end_cause = 'stopped_by_api', exit_code = 1
         where ended_at is null`,
      );
    },
    async stop() {
      clearInterval(renewal);
      const { rows } = await pool.query<{ id: string }>('select workflow_id as id from runs');
      const ids = rows.map(({ id }) => id);
      const terminate = async (): Promise<void> => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
          await temporal.terminate(id, 'measured').catch(() => undefined); // the server is busy
        }
      };
      await Promise.all(Array.from({ length: atOnce }, terminate));
      await temporal.close();
    },
  };
}
