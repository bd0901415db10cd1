// Everything that a screen shows of a run, live: its record, its conversation and its output. The
// latest part of the conversation is read first, and then the stream from there on. Earlier parts
// are read when the reader asks for them.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { RunOfOperator } from '../../client/generated/types.ts';
import type { Http } from '../../client/http/http.ts';
import type { RunEvent } from '../../client/stream/events.ts';
import type { Transcript } from '../../client/transcript/state.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { whileVisible } from '../ui/while-visible.ts';
import { followWhileVisible } from './follow-while-visible.ts';
import { openConversation } from './open-conversation.ts';
import { createRecent, type Recent } from './recent.ts';

export interface RunFeed {
  readonly http: Http;
  readonly runId: string;
  record: ReadonlySignal<RunOfOperator | null>;
  transcript: ReadonlySignal<Transcript>;
  /** The events of the stream and their output since the screen was opened. */
  recent: Recent;
  /** The last stored event before the stream. */
  openedAtSeq: ReadonlySignal<number | null>;
  hasEarlier: ReadonlySignal<boolean>;
  failure: ReadonlySignal<Failure | null>;
  loadEarlier(): Promise<void>;
  /** Begins again after a failure. */
  retry(): void;
  /** Reads the record again, for example after it was changed. */
  refresh(): Promise<void>;
  stop(): void;
}

const refreshMs = 4_000;
/** Events that arrive together are shown together. */
const batchMs = 30;

export function openRunFeed(http: Http, runId: string): RunFeed {
  const record = signal<RunOfOperator | null>(null);
  const openedAtSeq = signal<number | null>(null);
  const failure = signal<Failure | null>(null);
  const recent = createRecent();
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  const conversation = openConversation({ http, runId, signal: stopped });
  const { transcript, hasEarlier, loadEarlier } = conversation;

  async function refresh(): Promise<void> {
    record.value = await http.data<RunOfOperator>({ path: `/runs/${runId}`, signal: stopped });
  }

  const batch = createBatch((arrived) => {
    conversation.append(arrived);
    recent.add(arrived);
    if (arrived.some(({ type }) => changesRecord.has(type))) refresh().catch(() => undefined);
  });
  function onHidden(): void {
    batch.flush();
    conversation.dropTyping();
  }

  async function follow(): Promise<void> {
    await refresh();
    if (openedAtSeq.value === null) {
      await loadEarlier();
      openedAtSeq.value = transcript.value.lastSeq;
    }
    const after = transcript.value.lastSeq;
    const run = { http, runId, after, signal: stopped, onHidden };
    for await (const event of followWhileVisible(run)) batch.add(event);
  }

  const endRefresh = whileVisible(refreshMs, async () => {
    if (record.value?.finishedAt === null) await refresh();
  });
  function start(): void {
    failure.value = null;
    follow().catch((error: unknown) => {
      if (!stopped.aborted) failure.value = failureOf(error);
    });
  }
  start();

  const read = { record, transcript, recent, openedAtSeq, hasEarlier };
  const stop = (): void => {
    endRefresh();
    stopping.abort();
  };
  return { http, runId, ...read, failure, loadEarlier, refresh, retry: start, stop };
}

/** Passes events on that arrive together. */
function createBatch(onBatch: (arrived: RunEvent[]) => void) {
  let waiting: RunEvent[] = [];
  function flush(): void {
    const arrived = waiting;
    waiting = [];
    onBatch(arrived);
  }
  return {
    flush,
    add(event: RunEvent): void {
      if (waiting.length === 0) setTimeout(flush, batchMs);
      waiting.push(event);
    },
  };
}

/** After these events the record has something new. */
const changesRecord = new Set<RunEvent['type']>([
  ...(['agent_status', 'turn_end', 'finished', 'result', 'interaction', 'status'] as const),
]);
