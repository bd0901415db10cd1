import type { Frame, StoredFrame } from '../../core/frames/frame.ts';
import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../systems/postgres/log/frame-store.ts';
import { connectRedis } from '../../systems/redis/connect.ts';
import { createFrameStream } from '../../systems/redis/frame-stream.ts';
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

/** Writes a run's log as a worker does, without a worker. */
interface RunLog {
  runId: string;
  /** Stores frames without publishing them. */
  commit(frames: Frame[]): Promise<StoredFrame[]>;
  publish(frames: StoredFrame[]): Promise<void>;
  close(): void;
}

const leaseMs = 3_600_000;

export async function openRunLog(service: BenchService): Promise<RunLog> {
  const { runId } = await service.trigger({ prompt: 'No reader needs this.' });
  const frames = createFrameStore(service.database.pool);
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'bench', onError: () => undefined });
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  const stream = createFrameStream(redis, { instance: service.instance });
  const lease = await frames.takeLease(runId, 'bench', leaseMs);
  if (lease === null) throw new Error('the log of the new run is already owned');
  const { token, generation } = lease;
  let offset = lease.byteOffset;
  return {
    runId,
    async commit(batch) {
      const position = { runId, token, generation, fromOffset: offset, toOffset: offset + 1 };
      const stored = await frames.append({ ...position, frames: batch, facts: {} });
      if (stored.outcome === 'fenced') throw new Error('the lease of the log was lost');
      offset += 1;
      return batch.map((frame, i) => ({ ...frame, seq: stored.firstSeq + i, at: stored.at }));
    },
    async publish(stored) {
      if ((await stream.publish(runId, { frames: stored, deltas: [] })) !== 'buffered') {
        throw new Error('Redis did not take the frames');
      }
    },
    close() {
      stream.close();
      redis.disconnect();
    },
  };
}
