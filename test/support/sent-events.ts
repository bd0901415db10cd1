import { createParser, type EventSourceMessage } from 'eventsource-parser';

export interface SentEvent {
  id: string | undefined;
  event: string;
  /** The raw JSON text. */
  data: string;
}

/** Parses the events of one connection with an independent parser. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<SentEvent> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { id, event = 'message', data } of ready.splice(0)) yield { id, event, data };
  }
}
