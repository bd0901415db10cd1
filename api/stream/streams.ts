import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { SeatRequest } from '../../systems/redis/stream-slots.ts';
import type { Caller } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { createFeeds, type Feeds } from './feed-hub.ts';
import { createKeyWatch } from './key-revocation-watch.ts';
import { type Attendance, createAttendance } from './presence-reporter.ts';
import { createReader, type Dismissal, type Reader } from './reader.ts';
import { createReplaySource } from './replay-source.ts';
import type { LiveFeed } from './run-feed.ts';
import { serveReader } from './serve-reader.ts';
import { createOutlet, type Outlet } from './sse-writer.ts';
import { createSeating, type Seating } from './stream-limiter.ts';

export interface StreamRequest {
  run: Run;
  caller: Caller;
  resumeAfter: number | null;
}

export interface Streams {
  /** Answers the request with a stream, or throws before anything was answered. */
  open: (request: StreamRequest, reply: FastifyReply) => Promise<void>;
  /** Tells every reader to come back soon, and ends. */
  close: () => Promise<void>;
}

/** All open streams of this process. */
export function createStreams(deps: ApiDeps): Streams {
  const feeds = createFeeds(deps);
  const seating = createSeating(deps.seats);
  const attendance = createAttendance(deps.presence, deps.presenceEveryMs);
  const keyWatch = createKeyWatch(deps);
  const source = createReplaySource(deps);
  const open = new Map<Reader, Promise<void>>();
  let isClosing = false;

  async function serve(reader: Reader, secret: string): Promise<void> {
    const stopWatching = keyWatch.watch(secret, () => dismiss(reader, 'key'));
    try {
      await serveReader(reader);
    } catch (err) {
      const { runId, requestId } = reader.run;
      deps.logger.warn({ err, runId, requestId }, 'stream_cut_off');
    } finally {
      stopWatching();
    }
  }

  return {
    async open({ run, caller, resumeAfter }, reply) {
      const { keyId, projectId } = caller.key;
      const seat = { seatId: deps.newId(), keyId, projectId };
      const { feed, letGo } = await takePlace({ seating, feeds, attendance }, run, seat);
      // Of one who has left before now no `close` would tell.
      if (reply.raw.destroyed) {
        reply.hijack();
        return letGo();
      }

      const outlet = answerWithStream(reply, deps.metrics);
      const reader = createReader({ run, feed, source, frames: deps.frames, outlet, resumeAfter });
      if (isClosing) reader.dismissal = 'shutdown';
      const served = serve(reader, caller.secret).finally(() => {
        open.delete(reader);
        letGo();
      });
      open.set(reader, served);
    },
    async close() {
      isClosing = true;
      const served = [...open.values()];
      for (const reader of open.keys()) dismiss(reader, 'shutdown');
      await Promise.all(served);
      feeds.close();
      seating.close();
      attendance.close();
      keyWatch.close();
    },
  };
}

interface Places {
  seating: Seating;
  feeds: Feeds;
  attendance: Attendance;
}

/** All that one reader takes up, and lets go of together. */
async function takePlace(
  { seating, feeds, attendance }: Places,
  run: Run,
  seat: SeatRequest,
): Promise<{ feed: LiveFeed; letGo: () => void }> {
  const leave = await seating.take(seat);
  const { feed, release } = feeds.attach(run);
  const goAway = attendance.begin(run);
  const letGo = () => {
    release();
    goAway();
    leave();
  };
  try {
    await feed.ready;
  } catch (error) {
    letGo();
    throw error;
  }
  return { feed, letGo };
}

/** Goes at the next boundary between two events, or at once if it takes nothing any more. */
function dismiss(reader: Reader, why: Dismissal): void {
  reader.dismissal ??= why;
  reader.signal.notify();
  const timer = setTimeout(reader.outlet.destroy, limits.streamCloseMs);
  reader.outlet.onClose(() => clearTimeout(timer));
}

function answerWithStream(reply: FastifyReply, metrics: ApiDeps['metrics']): Outlet {
  reply.hijack();
  const res = reply.raw;
  res.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders), // set by this service, so none is undefined
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'referrer-policy': 'no-referrer',
  });
  res.flushHeaders();
  metrics.streamOpened();
  res.on('close', metrics.streamClosed);
  res.socket?.setKeepAlive(true, limits.streamPingMs);
  return createOutlet(res);
}
