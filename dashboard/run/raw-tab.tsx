import { useSignal } from '@preact/signals';
import type { RunEvent } from '../../client/stream/events.ts';
import { LongText } from '../transcript/long-text.tsx';
import type { RunFeed } from './run-feed.ts';

/** The events of the stream as they arrived, latest first. */
export function RawTab({ feed }: { feed: RunFeed }) {
  const events = feed.recent.events.value;
  if (events.length === 0) return <p class="muted">No events since this page was opened.</p>;
  return (
    <>
      <p class="muted small">The latest events since this page was opened, newest first.</p>
      <ol class="plain" reversed>
        {[...events].reverse().map((event, at) => (
          <li key={events.length - at}>
            <RawEvent event={event} />
          </li>
        ))}
      </ol>
    </>
  );
}

function RawEvent({ event }: { event: RunEvent }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="file"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <span class="mono">{event.type === 'unknown' ? event.name : event.type}</span>
        <span class="number muted">{event.seq ?? '–'}</span>
      </summary>
      {isOpen.value && <LongText text={JSON.stringify(event.data, null, 2)} />}
    </details>
  );
}
