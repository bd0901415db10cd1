import { type ReadonlySignal, signal } from '@preact/signals';
import type { RunEvent } from '../../client/stream/events.ts';

/** The latest events of a stream as they arrived, and their output. */
export interface Recent {
  events: ReadonlySignal<readonly RunEvent[]>;
  output: ReadonlySignal<string>;
  add(arrived: readonly RunEvent[]): void;
}

const keptEvents = 300;
const keptChars = 500_000;

export function createRecent(): Recent {
  const events = signal<readonly RunEvent[]>([]);
  const output = signal('');
  return {
    events,
    output,
    add(arrived) {
      events.value = [...events.value, ...arrived].slice(-keptEvents);
      const text = arrived
        .map((event) => (event.type === 'output' ? event.data.data : ''))
        .join('');
      if (text !== '') output.value = (output.value + text).slice(-keptChars);
    },
  };
}
