import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readAgentLine } from '../../../../../core/agent/agent-line.ts';
import type { Delta, StoredFrame } from '../../../../../core/frames/frame.ts';
import { limits } from '../../../../../core/limits.ts';
import type { Pool } from '../../../../../systems/postgres/client/pool.ts';
import {
  createFrameStore,
  type FrameStore,
} from '../../../../../systems/postgres/log/frame-store.ts';
import { createInteractionStore } from '../../../../../systems/postgres/runs/interaction-store.ts';
import { openSpoolFile, type SpoolFile } from '../../../../../worker/sandbox/output/spool-file.ts';
import {
  type SpoolTail,
  startTail,
  type TailDeps,
} from '../../../../../worker/sandbox/output/spool-tail.ts';
import { createPauseState } from '../../../../../worker/sandbox/pause-state.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario } from '../../../../support/database-records.ts';

/** A run with a spool written by the test, and independent tails of it. */
interface TailFixture {
  runId: string;
  path: string;
  frames: FrameStore;
  write(text: string | Buffer): Promise<void>;
  cutTo(bytes: number): Promise<void>;
  /** Takes over the lease and tails from the end of the log. */
  tail(given?: Partial<TailDeps>): Promise<StartedTail>;
  log(): Promise<StoredFrame[]>;
  published: { frames: StoredFrame[]; deltas: Delta[] }[];
}

interface StartedTail extends SpoolTail {
  troubles: string[];
  fenced(): boolean;
  /** Reads to the end, as after the agent's exit. */
  readToEnd(): Promise<void>;
}

export async function createTailFixture(pool: Pool): Promise<TailFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'tail-'));
  const path = join(folder, 'out');
  await writeFile(path, '');
  const { runId } = await (await createScenario(pool, testSealer)).run();
  const frames = createFrameStore(pool);
  const published: TailFixture['published'] = [];
  const tails: SpoolTail[] = [];
  const spools: SpoolFile[] = [];
  onTestFinished(async () => {
    for (const one of tails) one.stop();
    await Promise.allSettled(tails.map((one) => one.done));
    for (const one of spools) await one.close();
    await rm(folder, { recursive: true });
  });

  async function tail(given: Partial<TailDeps> = {}): Promise<StartedTail> {
    const lease = await frames.takeLease(runId, 'host', 60_000);
    if (lease === null) throw new Error('no lease');
    const spool = await openSpoolFile(path);
    spools.push(spool);
    const troubles: string[] = [];
    let fenced = false;
    const started = startTail({
      runId,
      generation: 1,
      token: lease.token,
      position: lease,
      spool,
      pause: createPauseState(),
      bounds: bounds(),
      withDeltas: true,
      frames,
      callsWritten: async () => {},
      onBatchStored: () => {},
      interactions: createInteractionStore(pool),
      frameStream: {
        publish: (_runId, batch) => {
          published.push(batch);
          return Promise.resolve('buffered');
        },
      },
      onStored: () => {},
      onFault: (trouble) => void troubles.push(trouble),
      onFenced: () => {
        fenced = true;
      },
      onFailure: () => {},
      ...given,
    });
    tails.push(started);
    const readToEnd = async (): Promise<void> => {
      started.finish();
      await started.done;
    };
    return { ...started, troubles, fenced: () => fenced, readToEnd };
  }

  return {
    runId,
    path,
    frames,
    published,
    tail,
    write: (text) => appendFile(path, text),
    cutTo: (bytes) => truncate(path, bytes),
    log: () => readLog(frames, runId),
  };
}

export const bounds = (): TailDeps['bounds'] => ({
  lineBytes: limits.spool.lineMaxBytes,
  chunkBytes: limits.spool.readChunkBytes,
  spoolBytes: limits.spool.maxBytes,
  unreadableMs: 1_000,
  lines: 1_000,
  bytes: 4 * 1024 ** 2,
});

async function readLog(frames: FrameStore, runId: string): Promise<StoredFrame[]> {
  const log: StoredFrame[] = [];
  for (;;) {
    const afterSeq = log.at(-1)?.seq ?? 0;
    const page = await frames.read(runId, { order: 'asc', afterSeq, limit: 5_000 });
    if (page.length === 0) return log;
    log.push(...page);
  }
}

export const assistant = (text: string): string =>
  JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } });

/** The frames of lines that are read one by one. */
export const framesOf = (lines: string[]) => lines.flatMap((line) => readAgentLine(line).frames);

/** A log without its numbers and times. */
export const plain = (log: { event: string; data: string; channel: string }[]) =>
  log.map(({ event, data, channel }) => ({ event, data, channel }));
