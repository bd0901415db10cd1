import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Delta, StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';

/** Writes to one reader of a stream, with backpressure. */
export interface SseWriter {
  /**
   * Returns a promise only if the reader has to be waited for: with a thousand readers a promise
   * for every write is measurable. Write again after it resolves. False: the reader has
   * disconnected.
   */
  write: (bytes: Buffer) => boolean | Promise<boolean>;
  isOpen: () => boolean;
  onClose: (listener: () => void) => void;
  end: () => void;
  destroy: () => void;
}

/**
 * Gives the socket one slice at a time; the bytes stay in memory until it has the last one. A
 * reader that takes none of a slice for `limits.stream.stallMs` is disconnected, and resumes with
 * its last event ID. `drain` alone never fires after a disconnect. The events of a response without
 * chunks are written to `output`, its socket: the response itself would delay each write to the end
 * of the tick.
 */
export function createSseWriter(res: ServerResponse, output: Writable = res): SseWriter {
  res.on('error', () => undefined); // a write while the reader disconnects; `close` follows
  const isOpen = () => !res.destroyed && !res.writableEnded;

  function writeSlice(slice: Buffer): boolean | Promise<boolean> {
    if (!isOpen()) return false;
    if (output.write(slice) || !output.writableNeedDrain) return isOpen();
    return drained(res, output).then(isOpen);
  }

  async function writeSlices(bytes: Buffer): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += limits.stream.bufferMaxBytes) {
      const slice = bytes.subarray(at, at + limits.stream.bufferMaxBytes);
      if (!(await writeSlice(slice))) return false;
    }
    return isOpen();
  }

  return {
    write: (bytes) =>
      bytes.length > limits.stream.bufferMaxBytes ? writeSlices(bytes) : writeSlice(bytes),
    isOpen,
    onClose: (listener) => void res.on('close', listener),
    end: () => void res.end(),
    destroy: () => void res.destroy(),
  };
}

function drained(res: ServerResponse, output: Writable): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => res.destroy(), limits.stream.stallMs);
    const settle = () => {
      clearTimeout(timer);
      output.off('drain', settle);
      res.off('close', settle);
      resolve();
    };
    output.on('drain', settle);
    res.on('close', settle);
    if (res.destroyed) settle();
  });
}

interface SseEvent {
  event: string;
  /** JSON text. */
  data: string;
  /** The ID with which a reader resumes after this event. */
  id?: number;
}

export function sseEvent({ event, data, id }: SseEvent): Buffer {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${idLine}event: ${event}\ndata: ${oneLine(data)}\n\n`);
}

export function sseFrame({ seq, event, data }: StoredFrame): Buffer {
  return sseEvent({ event, data, id: seq });
}

/** A token delta has no ID: it cannot be replayed. */
export function sseDelta({ data }: Delta): Buffer {
  return sseEvent({ event: 'stream_event', data });
}

export const ssePing = Buffer.from(': ping\n\n');

export function sseRetry(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

/** A line break outside JSON strings is white space, and would end the event's `data` line. */
function oneLine(data: string): string {
  return /[\r\n]/.test(data) ? data.replaceAll(/[\r\n]/g, ' ') : data;
}
