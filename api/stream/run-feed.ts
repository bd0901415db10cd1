// One feed per watched run and process, shared by all readers of the run. It subscribes first, then
// reads on from where the log stood. A notification carries the log's length and short frames. A
// tick compares the feed with Postgres once a second. A lost notification, a lost frame or a Redis
// outage therefore delays events and loses none.

import { fileTreeJson } from '../../core/files/file-tree.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import { createCoalescingRunner } from '../../lib/async/coalescing-runner.ts';
import type { RunProgress } from '../../systems/postgres/log/run-progress.ts';
import type { Notification } from '../../systems/redis/subscriber.ts';
import type { ApiDeps } from '../deps.ts';
import {
  createFeedCursor,
  createPendingEntries,
  type FeedCursor,
  type PendingEntries,
} from './feed-cursor.ts';
import { createRingBuffer, type RingBuffer } from './ring-buffer.ts';
import type { RingMemory } from './ring-memory.ts';

export interface RunFeed {
  ring: Pick<RingBuffer, 'take' | 'evictedThroughSeq'>;
  tree: Pick<FeedTree, 'json'>;
  state: () => RunProgress;
  /** Resolves when the file tree is known. */
  ready: Promise<void>;
  onChange: (listener: () => void) => () => void;
  /** Takes over a state that was just read from Postgres. */
  update: (state: RunProgress) => void;
  close: () => void;
}

export type FeedDeps = Pick<ApiDeps, 'frames' | 'frameStream' | 'files' | 'logger'>;

export function createRunFeed(deps: FeedDeps, run: Run, memory: RingMemory): RunFeed {
  const { runId, requestId } = run;
  const listeners = new Set<() => void>();
  const ring = createRingBuffer(run.lastSeq, memory);
  const cursor = createFeedCursor(deps, run, ring);
  const state = createFeedState(deps, run);
  const tree = createFeedTree(deps, runId);
  const hasEnded = () => state.now().endedAt !== null;
  const isAsleep = () => hasEnded() || (state.now().status === 'sleep' && state.now().lastSeq > 0);
  const pending = createPendingEntries();
  const notifyListeners = () => listeners.forEach((listener) => listener());

  const reading = createCoalescingRunner({
    onError(err) {
      pending.invalidate();
      deps.logger.warn({ err, runId, requestId }, 'stream_read_failed');
    },
    async step() {
      await state.refresh();
      cursor.noteStored(state.now().lastSeq);
      await tree.refresh(isAsleep());
      const entries = pending.take();
      if (entries === null || !cursor.tryAppend(entries)) {
        while (await cursor.readMore()) notifyListeners();
      }
      notifyListeners();
    },
  });

  function onNotification(notification: Notification): void {
    apply(notification, { cursor, state, tree, pending });
    reading.trigger();
  }

  // Nothing is published about a run that has ended.
  const unsubscribe = hasEnded()
    ? () => undefined
    : deps.frameStream.subscribe(runId, onNotification);

  return {
    ring,
    tree,
    state: state.now,
    ready: tree.refresh(isAsleep()),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    update(found) {
      if (!state.set(found) && found.lastSeq <= cursor.seq() && !tree.isStale()) return;
      pending.invalidate();
      reading.trigger();
    },
    close() {
      unsubscribe();
      reading.close();
      ring.close();
    },
  };
}

interface FeedParts {
  cursor: FeedCursor;
  state: FeedState;
  tree: FeedTree;
  pending: PendingEntries;
}

function apply(notification: Notification, { cursor, state, tree, pending }: FeedParts): void {
  const { kind } = notification;
  if (kind === 'frames') {
    cursor.noteHighWatermark(notification.lastSeq);
    pending.add(notification.entries);
  }
  if (kind === 'state' || kind === 'resync') {
    state.invalidate();
    pending.invalidate();
  }
  if (kind === 'filetree' || kind === 'resync') tree.invalidate();
}

/** The run's state as last read by this process. */
interface FeedState {
  now: () => RunProgress;
  invalidate: () => void;
  /** Reads the state if it was invalidated. */
  refresh: () => Promise<void>;
  /** Takes over a state read elsewhere; true if the status or the end differs. */
  set: (found: RunProgress) => boolean;
}

export function createFeedState({ frames }: Pick<ApiDeps, 'frames'>, run: Run): FeedState {
  let state = stateOf(run);
  let isStale = false;

  function set(found: RunProgress): boolean {
    // An end is final: a state without it was read earlier.
    if (found.endedAt === null && state.endedAt !== null) return false;
    const hasChanged =
      found.status !== state.status || found.endedAt?.getTime() !== state.endedAt?.getTime();
    state = found;
    return hasChanged;
  }

  return {
    now: () => state,
    invalidate() {
      isStale = true;
    },
    async refresh() {
      if (!isStale) return;
      isStale = false; // a change during the read may be too late for it
      const found = await frames.progress(run.runId).catch((error: unknown) => {
        isStale = true;
        throw error;
      });
      if (found !== null) set(found);
    },
    set,
  };
}

export function stateOf(run: Run): RunProgress {
  const { lastSeq, status, agentStatus, endedAt, endCause, exitCode, deletedAt } = run;
  return { lastSeq, status, agentStatus, endedAt, endCause, exitCode, deletedAt };
}

/** The run's working directory as last read, as JSON text; null before the first one. */
interface FeedTree {
  json: () => string | null;
  invalidate: () => void;
  /** The tree has changed since it was read. */
  isStale: () => boolean;
  /** Reads a stale tree. It remains stale if Redis does not answer. */
  refresh: (isAsleep: boolean) => Promise<void>;
}

type TreeDeps = Pick<ApiDeps, 'frameStream' | 'files'>;

export function createFeedTree(deps: TreeDeps, runId: string): FeedTree {
  let json: string | null = null;
  let isStale = true;
  return {
    json: () => json,
    invalidate() {
      isStale = true;
    },
    isStale: () => isStale,
    async refresh(isAsleep) {
      if (!isStale) return;
      isStale = false; // a change during the read may be too late for it
      const found = await readTree(deps, runId, isAsleep).catch((error: unknown) => {
        isStale = true;
        throw error;
      });
      if (found === null) isStale = true;
      else json = found.json ?? json;
    },
  };
}

/** A tree that Redis has dropped is read from the snapshot, which exists without a sandbox. */
async function readTree(
  deps: TreeDeps,
  runId: string,
  isAsleep: boolean,
): Promise<{ json: string | null } | null> {
  const cached = await deps.frameStream.readFileTree(runId);
  if (!isAsleep || typeof cached?.json === 'string') return cached;
  return { json: await treeOfSnapshot(deps, runId) };
}

async function treeOfSnapshot(deps: TreeDeps, runId: string): Promise<string | null> {
  const files = await deps.files.list(runId, { limit: limits.fileTree.maxNodes });
  return files.length === 0 ? null : fileTreeJson(files);
}
