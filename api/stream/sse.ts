import type { Delta, StoredFrame } from '../../core/frames/frame.ts';

export interface SseEvent {
  event: string;
  /** JSON text. */
  data: string;
  /** What a reader names to go on after this event. */
  id?: number;
}

export function sseEvent({ event, data, id }: SseEvent): Buffer {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${idLine}event: ${event}\ndata: ${oneLine(data)}\n\n`);
}

export function sseFrame({ seq, event, data }: StoredFrame): Buffer {
  return sseEvent({ event, data, id: seq });
}

/** A token delta has no id: it cannot be asked for again. */
export function sseDelta({ data }: Delta): Buffer {
  return sseEvent({ event: 'stream_event', data });
}

export const ssePing = Buffer.from(': ping\n\n');

export function sseRetry(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

/** A line end outside of JSON's strings is white space, and would end the event's line. */
function oneLine(data: string): string {
  return /[\r\n]/.test(data) ? data.replaceAll(/[\r\n]/g, ' ') : data;
}
