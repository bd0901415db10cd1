import type { Frame, StoredFrame } from '../../core/frames/frame.ts';
import { createFrameStore } from '../../systems/postgres/log/frame-store.ts';
import { connectRedis } from '../../systems/redis/connect.ts';
import { createFrameStream } from '../../systems/redis/frame-stream.ts';
import type { Service } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** Writes a run's log as a worker does, without a worker. */
interface RunLog {
  runId: string;
  /** Stores frames without publishing them. */
  commit(frames: Frame[]): Promise<StoredFrame[]>;
  publish(frames: StoredFrame[]): Promise<void>;
  close(): void;
}

const leaseMs = 3_600_000;

export async function openRunLog(service: Service): Promise<RunLog> {
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
      if (!(await stream.publish(runId, { frames: stored, deltas: [] }))) {
        throw new Error('Redis did not take the frames');
      }
    },
    close() {
      stream.close();
      redis.disconnect();
    },
  };
}
