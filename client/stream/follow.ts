// Follows a run over any number of connections. Every connection asks for the frames after the
// last one that was yielded, and a frame is yielded only if its number is higher. So the frames
// equal the log of the run, each once and in order. Frames that the service cannot replay are read
// from the log.

import { ConnectionFailed, type FlowrunError, isFlowrunError } from '../http/errors.ts';
import type { Http } from '../http/http.ts';
import { wait } from '../http/wait.ts';
import { type Message, readConnection } from './connection.ts';
import { type RunEvent, toEvent } from './events.ts';
import { readLog } from './read-log.ts';

export interface FollowOptions {
  /** Yields only what follows this frame. The default is 0, the beginning of the run. */
  after?: number;
  signal?: AbortSignal | undefined;
}

interface FollowRequest extends FollowOptions {
  http: Http;
  runId: string;
  /**
   * Called before each further connection; true: nothing follows. With it, a stream that a proxy
   * holds back is no error.
   */
  isOver?: () => Promise<boolean>;
}

interface Follower {
  seq: number;
  hasFinished: boolean;
  /** The last status and file tree: every connection begins with them. */
  snapshots: Map<string, string>;
  wasOpen: boolean;
  reachedUntilMs: number;
  /** Consecutive connections that were not accepted. */
  failures: number;
  /** The delay that the service has requested. */
  retryMs: number;
  retryAfterMs: number;
}

const backoffMaxMs = 30_000;
/** After this time without a connection, the client gives up. */
const unreachableMaxMs = 15 * 60_000;

export async function* followRun(
  request: FollowRequest,
): AsyncGenerator<RunEvent, void, undefined> {
  const follower: Follower = {
    seq: request.after ?? 0,
    hasFinished: false,
    snapshots: new Map(),
    wasOpen: false,
    reachedUntilMs: performance.now(),
    failures: 0,
    retryMs: 1_000,
    retryAfterMs: 0,
  };
  for (;;) {
    yield* readUntilCut(request, follower);
    if (follower.hasFinished) return;
    if (follower.failures === 0) follower.reachedUntilMs = performance.now();
    await wait(delayMs(follower), request.signal);
    if ((await request.isOver?.()) === true) return;
    if (request.isOver !== undefined) follower.reachedUntilMs = performance.now();
  }
}

async function* readUntilCut(
  request: FollowRequest,
  follower: Follower,
): AsyncGenerator<RunEvent, void, undefined> {
  const { http, runId, signal } = request;
  // Whether a first connection that fails is an error of the caller's request.
  const mustOpen = () => !follower.wasOpen && request.isOver === undefined;
  const attempts = mustOpen() ? 4 : 1;
  const onOpen = () => {
    Object.assign(follower, { wasOpen: true, failures: 0 });
  };
  const onRetryTime = (ms: number) => {
    follower.retryMs = ms;
  };
  follower.failures += 1;
  follower.retryAfterMs = 0;
  try {
    const connection = {
      http,
      runId,
      afterSeq: follower.seq,
      attempts,
      signal,
      onOpen,
      onRetryTime,
    };
    for await (const message of readConnection(connection)) {
      yield* eventsOf(message, request, follower);
      if (follower.hasFinished) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!isFlowrunError(error) || mustOpen() || !mayReconnect(error, follower)) throw error;
    follower.retryAfterMs = (error.retryAfterSeconds ?? 0) * 1_000;
  }
}

async function* eventsOf(
  { name, id, data: text }: Message,
  request: FollowRequest,
  follower: Follower,
): AsyncGenerator<RunEvent, void, undefined> {
  const seq = id === undefined ? null : Number(id);
  const data: unknown = JSON.parse(text);
  if (name === 'status' || name === 'filetree') {
    if (follower.snapshots.get(name) === text) return;
    follower.snapshots.set(name, text);
  }
  const event = toEvent(name, seq, data);
  if (event.type === 'replay_truncated') {
    const { firstAvailableSeq } = event.data;
    yield* readStored(request, follower, firstAvailableSeq);
    if (follower.seq + 1 >= firstAvailableSeq) return;
    follower.seq = firstAvailableSeq - 1;
  }
  // Also if the caller has seen it before.
  follower.hasFinished = event.type === 'finished';
  if (seq !== null && seq <= follower.seq) return;
  follower.seq = seq ?? follower.seq;
  yield event;
}

/** The stored frames before a number. */
async function* readStored(
  request: FollowRequest,
  follower: Follower,
  before: number,
): AsyncGenerator<RunEvent, void, undefined> {
  const { signal } = request;
  for await (const entry of readLog(request, { after: follower.seq, before, signal })) {
    follower.seq = entry.seq;
    yield toEvent(entry.event, entry.seq, entry.data);
  }
}

function mayReconnect(error: FlowrunError, follower: Follower): boolean {
  const { failures, reachedUntilMs } = follower;
  if (failures > 0 && performance.now() - reachedUntilMs > unreachableMaxMs) return false;
  const { status } = error;
  return error instanceof ConnectionFailed || status === 429 || (status !== null && status >= 500);
}

function delayMs({ failures, retryMs, retryAfterMs }: Follower): number {
  const backoffMs = failures === 0 ? 0 : Math.min(1_000 * 2 ** (failures - 1), backoffMaxMs);
  return Math.max(retryMs, retryAfterMs, backoffMs);
}
