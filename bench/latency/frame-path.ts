// Runs the worker's spool tail in this process, so that all timestamps of a frame are from one
// clock: its line is in the spool, it is being stored, it is being published, a reader has it.

import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../core/limits.ts';
import { createFrameStore, type FrameStore } from '../../systems/postgres/log/frame-store.ts';
import { connectRedis } from '../../systems/redis/connect.ts';
import { createFrameStream, type FrameStream } from '../../systems/redis/frame-stream.ts';
import type { Service } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { openSpoolFile } from '../../worker/sandbox/output/spool-file.ts';
import { type SpoolTail, startTail } from '../../worker/sandbox/output/spool-tail.ts';
import { openStreamReader } from '../support/stream-reader.ts';

export type Moment = 'printed' | 'committing' | 'published' | 'received';
export type FrameStamps = Record<Moment, number>;

interface FramePath {
  /**
   * Writes one line to the spool. Resolves with its timestamps when a reader has received its
   * frame.
   */
  pass(): Promise<FrameStamps>;
  close(): Promise<void>;
}

export async function openFramePath(service: Service): Promise<FramePath> {
  const { runId } = await service.trigger({ prompt: 'No reader needs this.' });
  const file = join(service.dataDir, 'spool');
  writeFileSync(file, '');
  const spool = await openSpoolFile(file);
  const moments: FrameStamps = { printed: 0, committing: 0, published: 0, received: 0 };
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'bench', onError: () => undefined });
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  const stream = createFrameStream(redis, { instance: service.instance });
  const frames = createFrameStore(service.database.pool);
  const tail = await tailOf({ frames, stream, spool, runId, moments });
  const reader = await openStreamReader(service, runId);
  let printed = 0;

  return {
    async pass() {
      const marker = `line ${(printed += 1)}.`;
      const arrival = reader.untilEvent((event) => event.includes(marker));
      moments.printed = performance.now();
      appendFileSync(file, lineOf(marker));
      moments.received = await arrival;
      return { ...moments };
    },
    async close() {
      reader.leave();
      tail.stop();
      await tail.done;
      await spool.close();
      stream.close();
      redis.disconnect();
      rmSync(file);
    },
  };
}

interface TailParts {
  frames: FrameStore;
  stream: FrameStream;
  spool: Awaited<ReturnType<typeof openSpoolFile>>;
  runId: string;
  moments: FrameStamps;
}

const leaseMs = 3_600_000;

async function tailOf({ frames, stream, spool, runId, moments }: TailParts): Promise<SpoolTail> {
  const lease = await frames.takeLease(runId, 'bench', leaseMs);
  if (lease === null) throw new Error('the log of the new run is already owned');
  const complain = (what: unknown): never => {
    throw new Error(`the tail has ended: ${String(what)}`);
  };
  return startTail({
    runId,
    ...lease,
    position: lease,
    spool,
    bounds: {
      lineBytes: limits.agentLineMaxBytes,
      chunkBytes: limits.spoolReadChunkBytes,
      spoolBytes: limits.spoolMaxBytes,
      unreadableMs: limits.spoolUnreadableMs,
      lines: 1_000,
      bytes: 4 * 1024 ** 2,
    },
    withDeltas: false,
    interactions: { record: () => Promise.resolve() },
    frames: {
      append(batch) {
        moments.committing = performance.now();
        return frames.append(batch);
      },
    },
    frameStream: {
      publish(id, batch) {
        moments.published = performance.now();
        return stream.publish(id, batch);
      },
    },
    onStored: () => undefined,
    onFault: complain,
    onFenced: () => complain('fenced'),
    onFailure: complain,
  });
}

function lineOf(text: string): string {
  const message = { role: 'assistant', content: [{ type: 'text', text: text.padEnd(200, '.') }] };
  return `${JSON.stringify({ type: 'assistant', message })}\n`;
}
