// How a feed handles frames in a notification: it appends frames that follow its position, and
// reads the log whenever something may be missing. A notification never decides what comes next.

import { afterEach, expect, test, vi } from 'vitest';
import { createRingMemory } from '../../../api/stream/ring-memory.ts';
import { createRunFeed, stateOf } from '../../../api/stream/run-feed.ts';
import type { StoredFrame } from '../../../core/frames/frame.ts';
import { limits } from '../../../core/limits.ts';
import type { StreamEntry, StreamPosition } from '../../../systems/redis/frame-entry.ts';
import type { Notification } from '../../../systems/redis/subscriber.ts';
import { admittedRun } from '../../support/admitted-run.ts';

afterEach(() => void vi.useRealTimers());

const storedFrame = (seq: number): StoredFrame => {
  const at = new Date(0);
  return { seq, at, event: 'output', channel: 'output', data: `"${seq}"` };
};
const frame = (seq: number): StreamEntry => ({ kind: 'frame', frame: storedFrame(seq) });
const delta = (seq: number, n: number): StreamEntry => {
  return { kind: 'delta', delta: { seq, n, data: `"${seq}-${n}"` } };
};
const positionOf = (entry: StreamEntry): StreamPosition => {
  if (entry.kind === 'delta') return entry.delta;
  return { seq: entry.kind === 'frame' ? entry.frame.seq : entry.seq, n: 0 };
};
const isAfter = (entry: StreamEntry, { seq, n }: StreamPosition): boolean => {
  const position = positionOf(entry);
  return position.seq > seq || (position.seq === seq && position.n > n);
};

/**
 * A feed that is up to date, a Redis with the entries `stored`, and the reads that the feed makes.
 */
async function openFeed(stored: StreamEntry[] = []) {
  const log: StoredFrame[] = [];
  const reads: StreamPosition[] = [];
  let onNotification: (notification: Notification) => void = () => {};
  const frameStream = {
    subscribe: (_runId: string, listener: typeof onNotification) => {
      onNotification = listener;
      return () => undefined;
    },
    readFileTree: async () => ({ json: '[]' }),
    read: async (_runId: string, after: StreamPosition) => {
      reads.push({ ...after });
      return stored.filter((entry) => isAfter(entry, after));
    },
  };
  const run = admittedRun({ partialMessages: true });
  const frames = {
    read: async (_runId: string, { afterSeq }: { afterSeq: number }) =>
      log.filter(({ seq }) => seq > afterSeq),
    progress: async () => ({ ...stateOf(run), lastSeq: log.at(-1)?.seq ?? 0 }),
  };
  const deps = { frameStream, frames };
  const feed = createRunFeed(deps as never, run, createRingMemory()); // no other member is used
  await feed.ready;
  const received = (): string[] => {
    const chunk = feed.ring.take({ seq: 0, n: 0 });
    if (chunk === null || chunk === 'overrun') return [];
    return [...chunk.bytes.toString().matchAll(/data: "(.+)"/g)].map(([, data]) => data ?? '');
  };
  const notify = async (entries: StreamEntry[], lastSeq?: number): Promise<void> => {
    const last = entries.at(-1);
    const highWatermark = lastSeq ?? (last === undefined ? 0 : positionOf(last).seq);
    onNotification({ kind: 'frames', lastSeq: highWatermark, entries });
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await notify([], 0);
  reads.length = 0;
  return {
    received,
    notify,
    stored,
    log,
    reads,
    onNotification: (notification: Notification) => onNotification(notification),
  };
}

test('appends frames and deltas that follow, without a read', async () => {
  const { received, notify, reads } = await openFeed();
  await notify([frame(1), delta(1, 1)]);
  await notify([delta(1, 2)]);
  await notify([frame(2), frame(3)]);
  expect(received()).toEqual(['1', '1-1', '1-2', '2', '3']);
  expect(reads).toEqual([]);
});

test('ignores entries that arrive twice', async () => {
  const { received, notify, reads } = await openFeed();
  await notify([frame(1), delta(1, 1)]);
  await notify([frame(1), delta(1, 1), delta(1, 2)]);
  await notify([frame(1), frame(2)]);
  expect(received()).toEqual(['1', '1-1', '1-2', '2']);
  expect(reads).toEqual([]);
});

test.each<[string, StreamEntry[], StreamEntry[], string[]]>([
  ['a frame', [frame(1), frame(2), frame(3)], [frame(3)], ['1', '2', '3']],
  ['a delta', [frame(1), delta(1, 1), delta(1, 2)], [delta(1, 2)], ['1', '1-1', '1-2']],
  ['the frame of a delta', [frame(1), frame(2), delta(2, 1)], [delta(2, 1)], ['1', '2', '2-1']],
])('reads the log if %s is missing before an entry', async (_what, all, notified, expected) => {
  const { received, notify, stored, reads } = await openFeed();
  await notify([frame(1)]);
  stored.push(...all);
  await notify(notified);
  expect(received()).toEqual(expected);
  expect(reads).toHaveLength(1);
});

test('reads the log after a notification without entries', async () => {
  const { received, notify, stored, onNotification } = await openFeed();
  await notify([frame(1)]);
  stored.push(frame(1), delta(1, 1), frame(2));
  onNotification({ kind: 'frames', lastSeq: 1, entries: [] });
  await notify([frame(2)]);
  expect(received()).toEqual(['1', '1-1', '2']);
});

test('reads the log after a state change and after a resync', async () => {
  for (const kind of ['resync', 'state'] as const) {
    const { received, notify, stored, onNotification } = await openFeed();
    await notify([frame(1)]);
    stored.push(frame(1), delta(1, 1), frame(2));
    onNotification({ kind });
    await notify([frame(2)]);
    expect(received(), kind).toEqual(['1', '1-1', '2']);
  }
});

test('waits for the deltas of a frame that is stored and not published yet', async () => {
  const { received, notify, log, onNotification } = await openFeed();
  await notify([frame(1), delta(1, 1)]);
  log.push(storedFrame(1), storedFrame(2));
  onNotification({ kind: 'state' });
  await notify([]);
  expect(received()).toEqual(['1', '1-1']);
  await notify([delta(1, 2), frame(2)]);
  expect(received()).toEqual(['1', '1-1', '1-2', '2']);
});

test('sends the rest of a message before a stored frame that is never published', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { received, notify, log, onNotification } = await openFeed();
  const passes = async (ms: number): Promise<void> => {
    vi.advanceTimersByTime(ms);
    onNotification({ kind: 'state' });
    await notify([]);
  };
  await notify([frame(1), delta(1, 1)]);
  log.push(storedFrame(1), storedFrame(2));
  for (const n of [2, 3, 4, 5, 6]) {
    await passes(limits.feed.publicationMs - 1);
    await notify([delta(1, n)]);
  }
  expect(received()).toEqual(['1', '1-1', '1-2', '1-3', '1-4', '1-5', '1-6']);
  await passes(limits.feed.publicationMs);
  await passes(limits.feed.publicationMs);
  expect(received().at(-1)).toBe('2');
});
