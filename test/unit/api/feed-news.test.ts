// What a feed makes of the frames that come with a wake-up: it takes them where they follow what it has,
// and reads wherever something may be missing. No wake-up decides what comes next.

import { expect, test } from 'vitest';
import { createLiveFeed } from '../../../api/stream/run-feed.ts';
import type { StreamEntry, StreamPosition, Wake } from '../../../systems/redis/frame-stream.ts';
import { admittedRun } from '../../support/admitted-run.ts';

const frame = (seq: number): StreamEntry => {
  const at = new Date(0);
  return {
    kind: 'frame',
    frame: { seq, at, event: 'output', channel: 'output', data: `"${seq}"` },
  };
};
const delta = (seq: number, n: number): StreamEntry => {
  return { kind: 'delta', delta: { seq, n, data: `"${seq}-${n}"` } };
};
const placeOf = (entry: StreamEntry): StreamPosition => {
  if (entry.kind === 'delta') return entry.delta;
  return { seq: entry.kind === 'frame' ? entry.frame.seq : entry.seq, n: 0 };
};
const isAfter = (entry: StreamEntry, { seq, n }: StreamPosition): boolean => {
  const place = placeOf(entry);
  return place.seq > seq || (place.seq === seq && place.n > n);
};

/** A feed that has read all there was, a Redis that holds `held`, and what the feed asks of it. */
async function openFeed(held: StreamEntry[] = []) {
  const reads: StreamPosition[] = [];
  let wake: (wake: Wake) => void = () => {};
  const frameStream = {
    subscribe: (_runId: string, onWake: typeof wake) => {
      wake = onWake;
      return () => undefined;
    },
    readFileTree: async () => ({ json: '[]' }),
    read: async (_runId: string, after: StreamPosition) => {
      reads.push({ ...after });
      return held.filter((entry) => isAfter(entry, after));
    },
  };
  const run = admittedRun({ partialMessages: true });
  const deps = { frameStream, frames: { read: async () => [], state: async () => null } };
  const feed = createLiveFeed(deps as never, run); // it asks nothing else
  await feed.ready;
  const said = (): string[] => {
    const piece = feed.ring.take({ seq: 0, n: 0 });
    if (piece === null || piece === 'behind') return [];
    return [...piece.bytes.toString().matchAll(/data: "(.+)"/g)].map(([, data]) => data ?? '');
  };
  const tell = async (entries: StreamEntry[], lastSeq?: number): Promise<void> => {
    const last = entries.at(-1);
    const told = lastSeq ?? (last === undefined ? 0 : placeOf(last).seq);
    wake({ kind: 'frames', lastSeq: told, entries });
    await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await tell([], 0);
  reads.length = 0;
  return { said, tell, held, reads, wake: (news: Wake) => wake(news) };
}

test('frames and deltas that follow are taken as they come, and nothing is read', async () => {
  const { said, tell, reads } = await openFeed();
  await tell([frame(1), delta(1, 1)]);
  await tell([delta(1, 2)]);
  await tell([frame(2), frame(3)]);
  expect(said()).toEqual(['1', '1-1', '1-2', '2', '3']);
  expect(reads).toEqual([]);
});

test('what comes twice is said once', async () => {
  const { said, tell, reads } = await openFeed();
  await tell([frame(1), delta(1, 1)]);
  await tell([frame(1), delta(1, 1), delta(1, 2)]);
  await tell([frame(1), frame(2)]);
  expect(said()).toEqual(['1', '1-1', '1-2', '2']);
  expect(reads).toEqual([]);
});

test.each<[string, StreamEntry[], StreamEntry[], string[]]>([
  ['a frame', [frame(1), frame(2), frame(3)], [frame(3)], ['1', '2', '3']],
  ['a delta', [frame(1), delta(1, 1), delta(1, 2)], [delta(1, 2)], ['1', '1-1', '1-2']],
  ['the frame of a delta', [frame(1), frame(2), delta(2, 1)], [delta(2, 1)], ['1', '2', '2-1']],
])('where %s is missing before it, it is read with that', async (_what, all, brought, expected) => {
  const { said, tell, held, reads } = await openFeed();
  await tell([frame(1)]);
  held.push(...all);
  await tell(brought);
  expect(said()).toEqual(expected);
  expect(reads).toHaveLength(1);
});

test('after a word that brought nothing all is read, whatever the next one brings', async () => {
  const { said, tell, held, wake } = await openFeed();
  await tell([frame(1)]);
  held.push(frame(1), delta(1, 1), frame(2));
  wake({ kind: 'frames', lastSeq: 1, entries: [] });
  await tell([frame(2)]);
  expect(said()).toEqual(['1', '1-1', '2']);
});

test('a wake-up after which anything may have happened has all read, whatever comes with the next', async () => {
  for (const kind of ['unsure', 'state'] as const) {
    const { said, tell, held, wake } = await openFeed();
    await tell([frame(1)]);
    held.push(frame(1), delta(1, 1), frame(2));
    wake({ kind });
    await tell([frame(2)]);
    expect(said(), kind).toEqual(['1', '1-1', '2']);
  }
});
