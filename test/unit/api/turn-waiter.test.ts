import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import { createTurnWaiter, currentPosition } from '../../../api/sessions/turn-waiter.ts';
import { createLogger } from '../../../config/logger.ts';
import { noUsage } from '../../../core/runs/run.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { MessageEnd } from '../../../systems/postgres/sessions/message-store.ts';
import type { Notification, OnNotification } from '../../../systems/redis/subscriber.ts';

const log = createLogger({ level: 'silent', name: 'test' });
const { signal } = new AbortController();
const turn = { runId: 'a-run', messageId: 'a-message' };
const ended = { exitCode: 0, error: null, reply: 'Done.', usage: noUsage, costNanos: null };

// The poll runs only when a test says so.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});
const poll = () => vi.advanceTimersByTime(1_000);

/** A waiter whose database is `ends`, and what it read from it. */
function waiterOn(ends: Map<string, MessageEnd>) {
  const listeners = new Set<OnNotification>();
  const reads: string[][] = [];
  const closing = new AbortController();
  const state = { isAvailable: true };
  const wait = createTurnWaiter(
    {
      logger: log,
      messages: {
        ends: async (messageIds) => {
          reads.push(messageIds);
          if (!state.isAvailable) throw new Error('unavailable');
          return new Map([...ends].filter(([messageId]) => messageIds.includes(messageId)));
        },
      },
      frameStream: {
        subscribe: (_runId: string, listener: OnNotification) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      } as unknown as ApiDeps['frameStream'],
    },
    closing.signal,
  );
  const notify = (notification: Notification) => {
    for (const listener of [...listeners]) listener(notification);
  };
  return { wait, reads, listeners, notify, closing, state };
}

const frames = (...events: string[]): Notification => ({
  kind: 'frames',
  lastSeq: events.length,
  entries: events.map((event, seq) => ({
    kind: 'frame',
    frame: { seq, event, at: new Date(0), channel: 'chat', data: '{}' },
  })),
});

test('waits for one message share one subscription and one read', async () => {
  const ends = new Map<string, MessageEnd>();
  const { wait, reads, listeners, notify } = waiterOn(ends);
  const waits = Array.from({ length: 300 }, () => wait(turn, { ms: 60_000, signal }));
  await sleep(100);
  expect(listeners.size).toBe(1);
  const before = reads.length;
  expect(before).toBeLessThanOrEqual(2);
  ends.set(turn.messageId, ended);
  notify(frames('turn_end'));
  expect(await Promise.all(waits)).toEqual(waits.map(() => ended));
  expect(reads.slice(before)).toEqual([[turn.messageId]]);
  expect(listeners.size).toBe(0);
});

test('only notifications that may end a turn cause a read, and at most one per 20 ms', async () => {
  const { wait, reads, notify } = waiterOn(new Map());
  const client = new AbortController();
  const waiting = wait(turn, { ms: 60_000, signal: client.signal });
  await sleep(100);
  reads.length = 0;
  for (let n = 0; n < 50; n += 1) notify(frames('assistant', 'output'));
  notify({ kind: 'filetree' });
  await sleep(100);
  expect(reads).toEqual([]);
  const ending: Notification[] = [
    frames('output', 'turn_end'),
    { kind: 'frames', lastSeq: 9, entries: [] },
    { kind: 'frames', lastSeq: 9, entries: [{ kind: 'stub', seq: 9 }] },
    { kind: 'state' },
    { kind: 'resync' },
  ];
  for (const notification of ending) {
    reads.length = 0;
    notify(notification);
    await sleep(50);
    expect(reads).toEqual([[turn.messageId]]);
  }
  reads.length = 0;
  const from = performance.now();
  for (let n = 0; n < 100; n += 1) {
    notify({ kind: 'state' });
    await sleep(1);
  }
  expect(reads.length).toBeLessThanOrEqual((performance.now() - from) / 20 + 2);
  client.abort();
  expect(await waiting).toBeNull();
});

test('one poll reads all awaited turns if notifications are lost', async () => {
  const ends = new Map<string, MessageEnd>();
  const { wait, reads } = waiterOn(ends);
  const messageIds = ['a', 'b', 'c'];
  const waits = messageIds.map((messageId) =>
    wait({ runId: messageId, messageId }, { ms: 60_000, signal }),
  );
  await sleep(100);
  reads.length = 0;
  for (const messageId of messageIds) ends.set(messageId, { ...ended, reply: messageId });
  poll();
  expect((await Promise.all(waits)).map((end) => end?.reply)).toEqual(messageIds);
  expect(reads.map((read) => read.toSorted())).toEqual([messageIds]);
});

test('a brief database outage only delays the response', async () => {
  const { wait, state } = waiterOn(new Map([[turn.messageId, ended]]));
  state.isAvailable = false;
  const waiting = wait(turn, { ms: 10_000, signal });
  await sleep(100);
  state.isAvailable = true;
  poll();
  expect(await waiting).toEqual(ended);
});

test('if the database stays unavailable, the wait ends without a result and throws nothing', async () => {
  const { wait, state, listeners } = waiterOn(new Map());
  state.isAvailable = false;
  const waiting = wait(turn, { ms: 100, signal });
  expect(await waiting).toBeNull();
  expect(listeners.size).toBe(0);
});

test('a client that disconnects ends its own wait only', async () => {
  const ends = new Map<string, MessageEnd>();
  const { wait, notify } = waiterOn(ends);
  const client = new AbortController();
  const left = wait(turn, { ms: 10_000, signal: client.signal });
  const stays = wait(turn, { ms: 10_000, signal });
  client.abort();
  expect(await left).toBeNull();
  await sleep(100);
  ends.set(turn.messageId, ended);
  notify({ kind: 'state' });
  await sleep(50);
  expect(await stays).toEqual(ended);
});

test('closing ends the reads', async () => {
  const { wait, reads, notify, closing } = waiterOn(new Map());
  const waiting = wait(turn, { ms: 200, signal });
  await sleep(100);
  closing.abort();
  reads.length = 0;
  poll();
  notify({ kind: 'state' });
  expect(await waiting).toBeNull();
  expect(reads).toEqual([]);
});

test('while the database is unavailable, the queue position is the stored one', async () => {
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const messages = {
    position: unavailable as ApiDeps['messages']['position'],
  } as ApiDeps['messages'];
  const sent = { ...turn, position: 3 };
  expect(await currentPosition({ messages }, sent, log)).toBe(3);
});
