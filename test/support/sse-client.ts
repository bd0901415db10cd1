import { type ClientRequest, get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { expect } from 'vitest';
import { descriptionError, type UndescribedEvent } from './expect-described.ts';

export interface SeenEvent {
  id: string | undefined;
  event: string | undefined;
  data: string;
}

export interface SseClient {
  status: number;
  headers: IncomingHttpHeaders;
  /** Throws if one of them did not match its schema. */
  events: SeenEvent[];
  comments: string[];
  /** Every `retry` time, in order. */
  retries: number[];
  bytes: () => number;
  /** The names of the events, in order. */
  names: () => (string | undefined)[];
  /** Resolves when the service has ended or cut the stream. */
  closed: Promise<void>;
  isClosed: () => boolean;
  until: (predicate: (events: SeenEvent[]) => boolean, timeoutMs?: number) => Promise<void>;
  pause: () => void;
  resume: () => void;
  leave: () => void;
}

interface StreamOptions {
  key: string | null;
  cookie?: string;
  lastEventId?: string;
  /** Disconnects after this many bytes of the body. */
  leaveAfterBytes?: number;
}

export async function openStream(address: string, options: StreamOptions): Promise<SseClient> {
  const [request, response] = await askFor(address, options);
  const events: SeenEvent[] = [];
  let undescribed: UndescribedEvent | null = null;
  const comments: string[] = [];
  const retries: number[] = [];
  const watchers = new Set<() => void>();
  const notifyWatchers = () => watchers.forEach((watcher) => watcher());
  const parser = createParser({
    onEvent({ id, event, data }) {
      events.push({ id, event, data });
      undescribed ??= descriptionError({ id, event, data });
    },
    onComment: (comment) => void comments.push(comment),
    onRetry: (retry) => void retries.push(retry),
  });

  function describedEvents(): SeenEvent[] {
    if (undescribed !== null) throw undescribed;
    return events;
  }

  let bytes = 0;
  let isClosed = false;
  const decoder = new TextDecoder();
  response.on('data', (chunk: Buffer) => {
    const left = (options.leaveAfterBytes ?? Number.POSITIVE_INFINITY) - bytes;
    bytes += chunk.length;
    parser.feed(
      decoder.decode(left < chunk.length ? chunk.subarray(0, left) : chunk, { stream: true }),
    );
    if (bytes >= (options.leaveAfterBytes ?? Number.POSITIVE_INFINITY)) request.destroy();
    notifyWatchers();
  });
  const closed = new Promise<void>((resolve) => {
    response.on('close', () => {
      isClosed = true;
      resolve();
      notifyWatchers();
    });
  });
  response.on('error', () => undefined);

  async function until(
    predicate: (seen: SeenEvent[]) => boolean,
    timeoutMs = 30_000,
  ): Promise<void> {
    if (predicate(describedEvents())) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        watchers.delete(check);
        reject(new Error(`not seen in time; events: ${JSON.stringify(events.slice(-5))}`));
      }, timeoutMs);
      const check = () => {
        if (!predicate(events)) return;
        clearTimeout(timer);
        watchers.delete(check);
        resolve();
      };
      watchers.add(check);
    });
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    get events() {
      return describedEvents();
    },
    comments,
    retries,
    bytes: () => bytes,
    names: () => describedEvents().map(({ event }) => event),
    closed,
    isClosed: () => isClosed,
    until,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    leave: () => void request.destroy(),
  };
}

function askFor(
  address: string,
  { key, cookie, lastEventId }: StreamOptions,
): Promise<[ClientRequest, IncomingMessage]> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const request = get(address, { headers, agent: false }, (response) =>
      resolve([request, response]),
    );
    request.on('error', reject);
  });
}

/** Converts stored frames to the events that a reader without losses has received. */
export function asEvents(stored: { seq: number; event: string; data: string }[]): SeenEvent[] {
  return stored.map(({ seq, event, data }) => ({ id: String(seq), event, data }));
}

export function expectFinished(client: SseClient, expected: object): void {
  const finished = client.events.filter(({ event }) => event === 'finished');
  expect(finished).toHaveLength(1);
  expect(JSON.parse(finished[0]?.data ?? '')).toEqual(expected);
}
