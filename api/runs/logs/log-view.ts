import type { StoredFrame } from '../../../core/frames/frame.ts';
import type { LogsQuery } from './log-schema.ts';

interface LogSlice {
  runId: string;
  query: LogsQuery;
  /** The frames in the requested order. */
  frames: StoredFrame[];
  /** No frame can follow in that order. */
  complete: boolean;
}

/** Text is always in forward order. */
export function logTextView({ runId, query, frames, complete }: LogSlice) {
  const inOrder = query.order === 'asc' ? frames : [...frames].reverse();
  return {
    runId,
    format: 'text' as const,
    content: inOrder.map(textOf).join(''),
    fromSeq: inOrder[0]?.seq ?? null,
    toSeq: inOrder.at(-1)?.seq ?? query.afterSeq ?? null,
    complete,
  };
}

/**
 * The whole body as JSON text. A frame's data is inserted as stored: parsing it would change
 * numbers that JavaScript cannot represent.
 */
export function logEntriesJson({ runId, query, frames, complete }: LogSlice): string {
  const head = { runId, format: 'structured', channel: query.channel };
  const nextSeq = frames.at(-1)?.seq ?? startOf(query);
  const entries = frames.map(entryJson).join(',');
  const members = JSON.stringify({ ...head, nextSeq, complete }).slice(1);
  return `{"data":{"entries":[${entries}],${members}}`;
}

function entryJson({ seq, at, event, data }: StoredFrame): string {
  const head = JSON.stringify({ seq, timestamp: at.toISOString(), event });
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** For an empty page: where to continue. */
function startOf({ order, afterSeq, beforeSeq }: LogsQuery): number | null {
  return order === 'asc' ? (afterSeq ?? 0) : (beforeSeq ?? null);
}

/** Frames of the channel `output` are always `{data: text}`, written by this service. */
function textOf({ data }: StoredFrame): string {
  return (JSON.parse(data) as { data: string }).data;
}
