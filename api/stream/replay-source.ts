import type { StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import type { StreamEntry } from '../../systems/redis/frame-entry.ts';
import type { ApiDeps } from '../deps.ts';

/**
 * The frames of a run after a position, page by page: from Redis as far as it reaches, else from
 * Postgres. Redis reaches up to a gap, or to a frame that it holds only as a stub. A page ends with
 * the frame that reaches `limits.replay.pageBytes`. An empty page means that nothing follows.
 */
export interface ReplaySource {
  readAfter: (runId: string, seq: number, maxFrames?: number) => Promise<StoredFrame[]>;
}

export function createReplaySource(deps: Pick<ApiDeps, 'frames' | 'frameStream'>): ReplaySource {
  return {
    async readAfter(runId, seq, maxFrames = limits.replay.pageFrames) {
      const after = { seq, n: Number.MAX_SAFE_INTEGER };
      const bounds = { count: maxFrames, maxBytes: limits.replay.pageBytes };
      const entries = await deps.frameStream.readPage(runId, after, bounds);
      const page = contiguousFrames(entries ?? [], seq);
      return page.length > 0 ? page : readLog(deps, runId, { afterSeq: seq, maxFrames });
    },
  };
}

export function readLog(
  { frames }: Pick<ApiDeps, 'frames'>,
  runId: string,
  { afterSeq, maxFrames = limits.replay.pageFrames }: { afterSeq: number; maxFrames?: number },
): Promise<StoredFrame[]> {
  const maxBytes = limits.replay.pageBytes;
  return frames.read(runId, { afterSeq, order: 'asc', limit: maxFrames, maxBytes });
}

function contiguousFrames(entries: StreamEntry[], afterSeq: number): StoredFrame[] {
  const page: StoredFrame[] = [];
  for (const entry of entries) {
    if (entry.kind === 'delta') continue;
    const next = afterSeq + page.length + 1;
    if (entry.kind === 'stub' || entry.frame.seq !== next) break;
    page.push(entry.frame);
  }
  return page;
}
