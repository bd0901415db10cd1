import type { Frame, StoredFrame } from '../../../core/frames/frame.ts';
import type { AgentStatus } from '../../../core/runs/run.ts';
import type { EndRunRequest } from '../../../systems/postgres/runs/end-run.ts';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { caller } from './call.ts';

export interface LogWriter {
  runId: string;
  /** Commits, then publishes. Returns the log so far. */
  write: (frames: Frame[], options?: WriteOptions) => Promise<void>;
  stored: StoredFrame[];
  end: (end?: Partial<EndRunRequest>) => Promise<void>;
}

interface WriteOptions {
  /** False: neither Redis nor the readers are notified. */
  publish?: boolean;
  /** Token deltas after the last frame. */
  deltas?: string[];
  /** The status of the agent after the frames. */
  agentStatus?: AgentStatus;
}

type Facts = Pick<WriteOptions, 'agentStatus'>;

/** Writes the log of a run like a worker. */
export async function openLog(fixture: ApiFixture, runId: string): Promise<LogWriter> {
  const { frames, runs } = fixture.stores;
  const lease = await frames.takeLease(runId, 'test', 600_000);
  if (lease === null) throw new Error('no lease');
  const stored: StoredFrame[] = [];
  let offset = lease.byteOffset;
  let deltaCount = 0;

  async function write(batch: Frame[], options: WriteOptions = {}): Promise<void> {
    const { publish = true, deltas = [], agentStatus } = options;
    const facts = agentStatus === undefined ? {} : { agentStatus };
    const isEmpty = batch.length === 0 && agentStatus === undefined;
    const fresh = isEmpty ? [] : await append(batch, facts);
    stored.push(...fresh);
    if (fresh.length > 0) deltaCount = 0;
    const seq = stored.at(-1)?.seq ?? 0;
    const numbered = deltas.map((data) => ({ seq, n: (deltaCount += 1), data }));
    if (publish) await fixture.frameStream.publish(runId, { frames: fresh, deltas: numbered });
  }

  async function append(batch: Frame[], facts: Facts): Promise<StoredFrame[]> {
    const range = { fromOffset: offset, toOffset: offset + 1 };
    const { token, generation } = lease as NonNullable<typeof lease>; // seen above
    const added = await frames.append({
      runId,
      token,
      generation,
      ...range,
      frames: batch,
      facts,
    });
    if (added.outcome === 'fenced') throw new Error('fenced');
    offset += 1;
    return batch.map((frame, i) => ({ ...frame, seq: added.firstSeq + i, at: added.at }));
  }

  async function end(given: Partial<EndRunRequest> = {}): Promise<void> {
    await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0, ...given });
    await fixture.frameStream.notify(runId);
    await fixture.frameStream.expire(runId);
  }

  return { runId, write, stored, end };
}

export async function triggerRun(
  fixture: ApiFixture,
  { url, key, flowId }: { url: string; key: string; flowId: string },
  body: object = {},
): Promise<LogWriter> {
  const answer = await caller({ url }, key)(`/api/v1/flows/${flowId}/runs`, {
    body: { prompt: 'Go', ...body },
  });
  return openLog(fixture, answer.json.data.runId);
}

export const output = (text: string): Frame => ({
  event: 'output',
  channel: 'output',
  data: JSON.stringify({ data: text }),
});

export const assistant = (text: string): Frame => ({
  event: 'assistant',
  channel: 'chat',
  data: JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } }),
});
