// Everything that a screen shows of a run, live: its record, its conversation and its output. The
// latest part of the conversation is read first, and then the stream from there on. Earlier parts
// are read when the reader asks for them.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { LogEntries, RunOfOperator } from '../../client/generated/types.ts';
import type { Http } from '../../client/http/http.ts';
import { type RunEvent, toEvent } from '../../client/stream/events.ts';
import type { Transcript } from '../../client/transcript/state.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { whileVisible } from '../ui/while-visible.ts';
import { createConversation } from './create-conversation.ts';
import { followWhileVisible } from './follow-while-visible.ts';
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

const pageSize = 200;
const refreshMs = 4_000;
/** Events that arrive together are shown together. */
const batchMs = 30;

export function openRunFeed(http: Http, runId: string): RunFeed {
  const record = signal<RunOfOperator | null>(null);
  const openedAtSeq = signal<number | null>(null);
  const hasEarlier = signal(false);
  const failure = signal<Failure | null>(null);
  const conversation = createConversation();
  const recent = createRecent();
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  let batch: RunEvent[] = [];

  async function refresh(): Promise<void> {
    record.value = await http.data<RunOfOperator>({ path: `/runs/${runId}`, signal: stopped });
  }

  /** Shows the entries before those that are shown. */
  async function loadEarlier(): Promise<void> {
    const run = { http, runId, signal: stopped };
    const earlier = await readBefore(run, conversation.firstSeq());
    conversation.prepend(earlier.events);
    hasEarlier.value = !earlier.isFirst;
  }

  function flush(): void {
    const arrived = batch;
    batch = [];
    conversation.append(arrived);
    recent.add(arrived);
    if (arrived.some(({ type }) => changesRecord.has(type))) refresh().catch(() => undefined);
  }

  function onHidden(): void {
    flush();
    conversation.dropTyping();
  }

  async function follow(): Promise<void> {
    await refresh();
    if (openedAtSeq.value === null) {
      await loadEarlier();
      openedAtSeq.value = conversation.transcript.value.lastSeq;
    }
    const after = conversation.transcript.value.lastSeq;
    for await (const event of followWhileVisible({ http, runId, after, signal: stopped, onHidden })) {
      if (batch.length === 0) setTimeout(flush, batchMs);
      batch.push(event);
    }
  }

  const endRefresh = whileVisible(refreshMs, async () => {
    if (record.value?.finishedAt === null) await refresh();
  });
  function stop(): void {
    endRefresh();
    stopping.abort();
  }
  function start(): void {
    failure.value = null;
    follow().catch((error: unknown) => {
      if (!stopped.aborted) failure.value = failureOf(error);
    });
  }
  start();

  const read = { record, transcript: conversation.transcript, recent, openedAtSeq, hasEarlier };
  return { http, runId, ...read, failure, loadEarlier, refresh, retry: start, stop };
}

interface RunLog {
  http: Http;
  runId: string;
  signal: AbortSignal;
}

/** The last part of the conversation, or the part before an event. A part has a size limit too. */
async function readBefore(
  { http, runId, signal: stopped }: RunLog,
  beforeSeq: number | undefined,
): Promise<{ events: RunEvent[]; isFirst: boolean }> {
  const query = { format: 'structured', channel: 'chat', order: 'desc', limit: pageSize };
  const { entries, complete } = await http.data<LogEntries>({
    path: `/runs/${runId}/logs`,
    query: { ...query, beforeSeq },
    signal: stopped,
  });
  const events = entries.reverse().map(({ event, seq, data }) => toEvent(event, seq, data));
  return { events, isFirst: complete };
}

/** After these events the record has something new. */
const changesRecord = new Set<RunEvent['type']>([
  ...(['agent_status', 'turn_end', 'finished', 'result', 'interaction', 'status'] as const),
]);
