import { useMemo } from 'preact/hooks';
import type { Entry } from '../../client/transcript/entries.ts';
import { stripControlCodes } from '../../core/sanitize-text.ts';
import { LongText } from './long-text.tsx';
import { Markdown } from './markdown.tsx';
import { Question } from './question.tsx';
import { ToolRow } from './tool-row.tsx';

/** Entries in order. The address of an entry is the number of its frame. */
export function EntryList({ entries }: { entries: readonly Entry[] }) {
  return (
    <ol class="entries">
      {entries.map((entry) => (
        <EntryItem key={entry.key} entry={entry} />
      ))}
    </ol>
  );
}

/** An entry that changes is replaced, so an unchanged one is not rendered again. */
function EntryItem({ entry }: { entry: Entry }) {
  return useMemo(
    () => (
      <li class={`entry entry-${entry.kind}`} id={entry.seq === null ? undefined : `e${entry.key}`}>
        <EntryBody entry={entry} />
      </li>
    ),
    [entry],
  );
}

function EntryBody({ entry }: { entry: Entry }) {
  switch (entry.kind) {
    case 'message':
      return (
        <>
          <div class="speaker">You{entry.attempt > 1 && ` · attempt ${entry.attempt}`}</div>
          <div class="spoken">{stripControlCodes(entry.text)}</div>
          {entry.end?.error != null && <p class="bad">The turn failed: {entry.end.error}</p>}
        </>
      );
    case 'text':
      return entry.isError ? (
        <div class="note note-bad">{stripControlCodes(entry.text)}</div>
      ) : (
        <Markdown text={entry.text} />
      );
    case 'thinking':
      return (
        <details class="thinking">
          <summary>Thinking</summary>
          <LongText text={entry.text} />
        </details>
      );
    case 'tool':
      return (
        <ToolRow entry={entry}>
          {entry.children.length > 0 && <EntryList entries={entry.children} />}
        </ToolRow>
      );
    case 'question':
      return <Question entry={entry} />;
    case 'notice':
      return (
        <div class={entry.notice === 'agent_error' ? 'note note-bad' : 'note'}>
          {stripControlCodes(entry.text)}
        </div>
      );
  }
}
