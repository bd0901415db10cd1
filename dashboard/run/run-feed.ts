// Everything that a screen shows of a run, live: its record, its conversation and its output. The
// latest part of the conversation is read first, and then the stream from there on. Earlier parts
// are read when the reader asks for them.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { LogEntries, RunOfOperator } from '../../client/generated/types.ts';
import type { Http } from '../../client/http/http.ts';
import { type RunEvent, toEvent } from '../../client/stream/events.ts';
import { followRun } from '../../client/stream/follow.ts';
import { emptyTranscript, type Transcript } from '../../client/transcript/state.ts';
import { extendTranscript } from '../../client/transcript/transcript.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { whileVisible } from '../ui/while-visible.ts';
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
  const transcript = signal<Transcript>(emptyTranscript);
  const openedAtSeq = signal<number | null>(null);
  const hasEarlier = signal(false);
  const failure = signal<Failure | null>(null);
  const recent = createRecent();
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  let events: RunEvent[] = [];
  let batch: RunEvent[] = [];

  async function refresh(): Promise<void> {
    record.value = await http.data<RunOfOperator>({ path: `/runs/${runId}`, signal: stopped });
  }

  /** Shows the entries before those that are shown. */
  async function loadEarlier(): Promise<void> {
    const first = events.find(({ seq }) => seq !== null);
    const earlier = await readBefore({ http, runId, signal: stopped }, first?.seq ?? undefined);
    events = [...earlier.events, ...events];
    transcript.value = extendTranscript(emptyTranscript, ...events);
    hasEarlier.value = !earlier.isFirst;
  }

  function flush(): void {
    const arrived = batch;
    batch = [];
    transcript.value = extendTranscript(transcript.value, ...arrived);
    for (const event of arrived) if (event.type !== 'stream_event') events.push(event);
    recent.add(arrived);
    if (arrived.some(({ type }) => changesRecord.has(type))) refresh().catch(() => undefined);
  }

  async function follow(): Promise<void> {
    await refresh();
    await loadEarlier();
    const after = events.at(-1)?.seq ?? 0;
    openedAtSeq.value = after;
    for await (const event of followRun({ http, runId, after, signal: stopped })) {
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
  follow().catch((error: unknown) => {
    if (!stopped.aborted) failure.value = failureOf(error);
  });

  const read = { record, transcript, recent, openedAtSeq, hasEarlier, failure };
  return { http, runId, ...read, loadEarlier, refresh, stop };
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
