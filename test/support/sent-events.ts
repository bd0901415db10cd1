import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { descriptionError } from './expect-described.ts';

export interface SentEvent {
  id: string | undefined;
  event: string;
  /** The raw JSON text. */
  data: string;
}

/**
 * Parses the events of one connection with an independent parser. Throws at an event that is not as
 * described, so that every stream that a test reads also tests the description.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<SentEvent> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { id, event = 'message', data } of ready.splice(0)) {
      const error = descriptionError({ id, event, data });
      if (error !== null) throw error;
      yield { id, event, data };
    }
  }
}
