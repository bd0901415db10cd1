import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { StreamSlotRequest } from '../../systems/redis/stream-slots.ts';
import type { Caller, OperatorCaller } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { createCallerWatch } from './caller-watch.ts';
import { createFeedHub, type FeedHub } from './feed-hub.ts';
import { createPingTimer } from './ping-timer.ts';
import { createPresenceReporter, type PresenceReporter } from './presence-reporter.ts';
import { createReader, type Reader } from './reader.ts';
import { createReconnectTimes, type ReconnectTimes } from './reconnect-times.ts';
import { createReplayMemory } from './replay-memory.ts';
import { createReplaySource } from './replay-source.ts';
import type { RunFeed } from './run-feed.ts';
import { serveReader } from './serve-reader.ts';
import { createSseWriter, type SseWriter } from './sse-writer.ts';
import { createStreamLimiter, type StreamLimiter } from './stream-limiter.ts';

/** A key, with or without a run token, or an operator in place of the key. */
export interface StreamCaller {
  key: Pick<Caller['key'], 'keyId' | 'projectId' | 'rateLimitRpm'>;
  runToken: { expiresInMs: number } | null;
  operator?: OperatorCaller;
}

interface StreamRequest {
  run: Run;
  caller: StreamCaller;
  resumeAfter: number | null;
}

export interface Streams {
  /** Answers the request with a stream, or throws before anything was sent. */
  open: (request: StreamRequest, reply: FastifyReply) => Promise<void>;
  /** Asks every reader to reconnect soon, and ends all streams. */
  close: () => Promise<void>;
}

/** All open streams of this process. */
export function createStreams(deps: ApiDeps): Streams {
  const hub = createFeedHub(deps, () => closeAll(reconnects, open.keys()));
  const limiter = createStreamLimiter(deps.streamSlots);
  const reconnects = createReconnectTimes(limiter, deps.streamSlots);
  const presence = createPresenceReporter(deps.presence, deps.presenceEveryMs);
  const callerWatch = createCallerWatch(deps);
  const source = createReplaySource(deps);
  const memory = createReplayMemory(deps.replayBudget);
  const pings = createPingTimer();
  const open = new Map<Reader, Promise<void>>();
  let isClosing = false;

  /** Begins to answer. Calls `release` at the end, unless it throws. */
  function start(
    { run, caller, caller: { key }, resumeAfter }: StreamRequest,
    reply: FastifyReply,
    { feed, release }: Registration,
  ): void {
    const writer = answerWithStream(reply, deps.metrics);
    const reconnect = reconnects.whileOpen(key, () => scheduleRetry(reader));
    const reader = createReader({
      ...{ run, key, feed, source, memory, pings, frames: deps.frames, writer, resumeAfter },
      nextRetryMs: reconnect.nextRetryMs,
    });
    if (isClosing) closeAll(reconnects, [reader]);
    const served = serve({ reader, caller }, callerWatch, deps).finally(() => {
      open.delete(reader);
      reconnect.release();
      release();
    });
    open.set(reader, served);
  }

  return {
    async open(request, reply) {
      const { run, caller } = request;
      const { keyId, projectId } = caller.key;
      const slot = { slotId: deps.newId(), keyId, projectId };
      const registration = await registerReader({ limiter, hub, presence }, run, slot);
      reply.hijack();
      // A client that has left already emits no further `close`.
      if (reply.raw.destroyed) return registration.release();
      try {
        start(request, reply, registration);
      } catch (err) {
        registration.release();
        // The head may have been sent, so the client has to see that the stream is cut off.
        reply.raw.destroy();
        warnOfAbort(deps, run, err);
      }
    },
    async close() {
      isClosing = true;
      const served = [...open.values()];
      closeAll(reconnects, open.keys());
      await Promise.all(served);
      for (const part of [hub, limiter, presence, callerWatch]) part.close();
    },
  };
}

interface Watched {
  reader: Reader;
  caller: StreamCaller;
}

/** Ends early if the caller may no longer read. Never throws. */
async function serve(
  { reader, caller }: Watched,
  callerWatch: ReturnType<typeof createCallerWatch>,
  deps: Pick<ApiDeps, 'logger'>,
): Promise<void> {
  const end = () => closeReader(reader, null);
  const stopWatching = callerWatch.watch(caller, end);
  const expiry = caller.runToken && setTimeout(end, caller.runToken.expiresInMs);
  try {
    await serveReader(reader);
  } catch (err) {
    warnOfAbort(deps, reader.run, err);
  } finally {
    stopWatching();
    clearTimeout(expiry ?? undefined);
  }
}

function warnOfAbort({ logger }: Pick<ApiDeps, 'logger'>, run: Run, err: unknown): void {
  const { runId, requestId } = run;
  logger.warn({ err, runId, requestId }, 'stream_aborted');
}

interface ReaderResources {
  limiter: StreamLimiter;
  hub: FeedHub;
  presence: PresenceReporter;
}

interface Registration {
  feed: RunFeed;
  release: () => void;
}

/** Acquires everything that a reader uses, with one function that releases all of it. */
async function registerReader(
  { limiter, hub, presence }: ReaderResources,
  run: Run,
  slot: StreamSlotRequest,
): Promise<Registration> {
  const releaseSlot = await limiter.acquire(slot);
  const { feed, release: releaseFeed } = hub.attach(run);
  const stopPresence = presence.join(run);
  const release = () => {
    releaseFeed();
    stopPresence();
    releaseSlot();
  };
  try {
    await feed.ready;
  } catch (error) {
    release();
    throw error;
  }
  return { feed, release };
}

/** Sends the reader another time to reconnect, if it needs one. */
function scheduleRetry(reader: Reader): void {
  reader.isRetryDue = true;
  reader.notifier.notify();
}

/** Readers of one key reconnect one after the other. */
function closeAll(reconnects: ReconnectTimes, readers: Iterable<Reader>): void {
  for (const ofKey of groupByKey(readers)) {
    const times = reconnects.atClose(ofKey[0].key, ofKey.length);
    for (const [index, reader] of ofKey.entries()) {
      const retryMs = times.then((timeOf) => timeOf(index));
      closeReader(reader, retryMs);
    }
  }
}

function groupByKey(readers: Iterable<Reader>): [Reader, ...Reader[]][] {
  const groups = new Map<string, [Reader, ...Reader[]]>();
  for (const reader of readers) {
    const known = groups.get(reader.key.keyId);
    if (known === undefined) groups.set(reader.key.keyId, [reader]);
    else known.push(reader);
  }
  return [...groups.values()];
}

/** Closes between two events, or by force when the reader no longer takes any bytes. */
function closeReader(reader: Reader, retryMs: Promise<number> | null): void {
  reader.closing ??= { retryMs };
  reader.notifier.notify();
  const timer = setTimeout(reader.writer.destroy, limits.stream.closeMs);
  reader.writer.onClose(() => clearTimeout(timer));
}

function answerWithStream(reply: FastifyReply, metrics: ApiDeps['metrics']): SseWriter {
  const res = reply.raw;
  const isDirect = !isProxied(reply.request.headers);
  if (isDirect) res.useChunkedEncodingByDefault = false;
  res.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders), // set by this service, so none is undefined
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'referrer-policy': 'no-referrer',
    ...(isDirect && { connection: 'close' }),
  });
  res.flushHeaders();
  metrics.streamOpened();
  res.on('close', metrics.streamClosed);
  res.socket?.setKeepAlive(true, limits.stream.pingMs);
  // The response of a pipelined request has no socket yet.
  return createSseWriter(res, isDirect && res.socket !== null ? res.socket : res);
}

/**
 * A direct client gets no chunked encoding, because framing costs more than the write, so its
 * response ends with the connection. A proxy needs chunks to reuse the connection and to detect
 * truncation.
 */
function isProxied(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => proxyHeader.test(name));
}

const proxyHeader = /^(via|forwarded|x-forwarded-.+|x-real-ip)$/;
