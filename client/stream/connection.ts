import { createParser } from 'eventsource-parser';
import { ConnectionFailed, isFlowrunError } from '../http/errors.ts';
import type { Http } from '../http/http.ts';

export interface Message {
  name: string;
  id: string | undefined;
  data: string;
}

interface ConnectionRequest {
  http: Http;
  runId: string;
  afterSeq: number;
  attempts: number;
  signal: AbortSignal | undefined;
  onOpen(): void;
  onRetryTime(ms: number): void;
}

/** The service sends a ping every 15 seconds. */
const silenceMaxMs = 40_000;

/** Yields the messages of one connection, and throws if it breaks or falls silent. */
export async function* readConnection(
  request: ConnectionRequest,
): AsyncGenerator<Message, void, undefined> {
  const { http, runId, afterSeq, attempts, signal } = request;
  const response = await http.send({
    path: `/runs/${runId}/stream`,
    headers: { accept: 'text/event-stream', 'last-event-id': String(afterSeq) },
    attempts,
    signal,
  });
  if (response.body === null) throw new ConnectionFailed('The stream has no body.');
  request.onOpen();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const ready: Message[] = [];
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => ready.push({ name: event, id, data }),
    onRetry: request.onRetryTime,
  });
  try {
    for (;;) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/** A failed read is a broken connection; each runtime has a different error for it. */
async function readInTime(reader: Reader): ReturnType<Reader['read']> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const error = new ConnectionFailed(`The stream was silent for ${silenceMaxMs} ms.`);
    timer = setTimeout(() => reject(error), silenceMaxMs);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    throw isFlowrunError(error) ? error : new ConnectionFailed('The stream was cut off.', error);
  } finally {
    clearTimeout(timer);
  }
}
