// The memory for replays that clients do not read. The clients connect to a Unix socket, because
// the buffers of TCP can hold a whole replay.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Caller } from '../../../api/app-types.ts';
import type { ApiDeps } from '../../../api/deps.ts';
import { noopMetrics } from '../../../api/metrics.ts';
import type { ReplayBounds } from '../../../api/stream/replay-memory.ts';
import { createStreams } from '../../../api/stream/streams.ts';
import type { StoredFrame } from '../../../core/frames/frame.ts';
import { limits } from '../../../core/limits.ts';
import { admittedRun } from '../../support/admitted-run.ts';

const { firstOutputMaxBytes } = limits.log;
const { encodedOutputBytes, encodedPageBytes, readsAtOnce } = limits.replay;

const frame = (bytes: number): StoredFrame => {
  const data = `"${'x'.repeat(bytes)}"`;
  return { seq: 1, at: new Date(0), event: 'assistant', channel: 'chat', data };
};

interface Log {
  tail: string;
  frame?: StoredFrame;
  bounds?: ReplayBounds;
  /** Resolves when the ends of logs can be read. */
  readable?: Promise<void>;
}

async function startServer({ tail, frame: only = frame(1), bounds, readable }: Log) {
  const tails: string[] = [];
  let pages = 0;
  const warnings: string[] = [];
  const streams = createStreams({
    ...(bounds === undefined ? {} : { replayBudget: bounds }),
    metrics: noopMetrics,
    logger: { warn: (_fields: object, event: string) => void warnings.push(event) },
    newId: () => 'a-slot',
    streamSlots: {
      claim: async () => ({ allowed: true, openOfKey: 1 }),
      renew: async () => new Map(),
      reserveReconnects: async () => 0,
      release: async () => undefined,
    },
    presence: { touch: async () => undefined },
    frameStream: {
      subscribe: () => () => undefined,
      readFileTree: async () => ({ json: null }),
      readPage: async () => null,
      notify: async () => true,
    },
    frames: {
      renderedTail: async (runId: string) => {
        tails.push(runId);
        await readable;
        return tail;
      },
      read: async (_runId: string, query: { limit: number }) => {
        if (query.limit > 1) pages += 1;
        return [only];
      },
    },
  } as unknown as ApiDeps); // no other member is used
  const app = Fastify({ forceCloseConnections: true });
  app.get('/:keyId', async (request, reply) => {
    const { keyId } = request.params as { keyId: string };
    const key = { keyId, projectId: 'a-project', rateLimitRpm: 60 };
    const caller = { key, runToken: null } as Caller;
    const run = admittedRun({ runId: keyId, lastSeq: 1 });
    await streams.open({ run, caller, resumeAfter: null }, reply);
  });
  const folder = mkdtempSync(join(tmpdir(), 'replay-memory-'));
  const socketPath = join(folder, 'socket');
  await app.listen({ path: socketPath });
  onTestFinished(async () => {
    await app.close();
    await streams.close();
    rmSync(folder, { recursive: true });
  });
  /** A stream of which the caller has read nothing yet. */
  const open = async (keyId: string): Promise<IncomingMessage> => {
    const sent = httpRequest({ socketPath, path: `/${keyId}`, agent: false });
    sent.on('error', () => undefined).end();
    const [response] = await once(sent, 'response');
    return response.on('error', () => undefined);
  };
  return { open, tails, warnings, pages: () => pages };
}

/** One reader of a key at a time, and two in total. */
const bounds = {
  maxBytes: 2 * encodedOutputBytes,
  ownerMaxBytes: encodedOutputBytes,
  waitMs: 30_000,
};

const line = `${'x'.repeat(99)}\n`;
const fullTail = line.repeat(firstOutputMaxBytes / line.length);

test('a client that does not read its replay delays only readers of the same key', async () => {
  const { open, tails } = await startServer({ tail: fullTail, bounds });
  const unread = await open('a');
  const waiting = await open('a');
  await open('b');
  await expect.poll(() => tails).toEqual(['a', 'b']);
  unread.destroy();
  await expect.poll(() => tails).toEqual(['a', 'b', 'a']);
  waiting.destroy();
});

test('readers wait for the total of all keys', async () => {
  const { open, tails } = await startServer({ tail: fullTail, bounds });
  const unread = await open('a');
  await open('b');
  await open('c');
  await expect.poll(() => tails).toEqual(['a', 'b']);
  unread.destroy();
  await expect.poll(() => tails).toEqual(['a', 'b', 'c']);
});

test('a reader that waits for memory is pinged, and gets its events afterwards', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { promise: readable, resolve } = Promise.withResolvers<void>();
  const waitMs = 4 * limits.stream.pingMs;
  const { open, tails } = await startServer({
    ...{ tail: 'x', readable, bounds: { ...bounds, waitMs } },
  });
  await open('a');
  await expect.poll(() => tails).toEqual(['a']);
  const waiting = await open('a');
  let received = '';
  waiting.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  await expect.poll(() => received).toContain('event: status');
  for (let pings = 1; pings <= 2; pings += 1) {
    await vi.advanceTimersByTimeAsync(limits.stream.pingMs);
    await expect.poll(() => received.split(': ping\n\n')).toHaveLength(1 + pings);
  }
  expect(received).not.toContain('event: output');
  resolve();
  await expect.poll(() => received).toContain('event: assistant');
  waiting.destroy();
});

test('a reader without memory in time gets the end of its stream and may reconnect', async () => {
  const { open, tails, warnings } = await startServer({
    tail: fullTail,
    bounds: { ...bounds, waitMs: 100 },
  });
  await open('a');
  const refused = await text(await open('a'));
  expect(refused).toMatch(/^retry: \d+\n\nevent: status\n[^\n]+\n\n$/);
  expect(tails).toEqual(['a']);
  expect(warnings).toContain('stream_aborted');
});

test('a rendered end with many escapes is read again with memory for all of it', async () => {
  const tail = '\u0001'.repeat(firstOutputMaxBytes);
  const { open, tails } = await startServer({ tail });
  const response = await open('a');
  const event = `event: output\ndata: ${JSON.stringify({ data: tail })}\n\n`;
  expect(await textUntil(response, 'event: assistant')).toContain(event);
  expect(tails).toEqual(['a', 'a']);
});

test('few replays are read at a time', async () => {
  const { promise: readable, resolve } = Promise.withResolvers<void>();
  const { open, tails } = await startServer({ tail: 'x', readable });
  const keys = Array.from({ length: readsAtOnce + 1 }, (_, index) => `key-${index}`);
  const responses = [];
  for (const key of keys) responses.push(await open(key));
  await expect.poll(() => tails).toEqual(keys.slice(0, -1));
  resolve();
  for (const response of responses) await textUntil(response, 'event: assistant');
  expect(tails).toEqual(keys);
});

test('a page is read again if it is one byte larger than expected', async () => {
  const overhead = 'id: 1\nevent: assistant\ndata: ""\n\n'.length;
  for (const beyond of [0, 1]) {
    const only = frame(encodedPageBytes - overhead + beyond);
    const { open, pages } = await startServer({ tail: 'x', frame: only });
    const sent = await textUntil(await open('a'), `${only.data}\n\n`);
    expect(sent.split('event: assistant')).toHaveLength(2);
    expect(pages()).toBe(1 + beyond);
  }
});

async function textUntil(response: IncomingMessage, end: string): Promise<string> {
  let received = '';
  for await (const chunk of response.setEncoding('utf8')) {
    received += chunk;
    if (received.includes(end)) break;
  }
  return received;
}
