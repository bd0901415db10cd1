import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Transcript } from '../../client/transcript/state.ts';
import { stripControlCodes } from '../../core/sanitize-text.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { plural } from '../ui/format.ts';
import { EntryList } from './entry-list.tsx';

interface ConversationProps {
  transcript: Transcript;
  hasEarlier: boolean;
  onEarlier: () => Promise<void>;
}

/** The distance to the end within which the reader is at the end. */
const nearEndPx = 60;

/** A conversation that grows. It follows the end only while the reader is there. */
export function Conversation({ transcript, hasEarlier, onEarlier }: ConversationProps) {
  const pane = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useSignal(true);
  const seqAtEnd = useRef(0);
  const { entries, typing, lastSeq } = transcript;
  if (isAtEnd.value) seqAtEnd.current = lastSeq;
  // Earlier entries that were loaded meanwhile are not new.
  const newCount = entries.filter(({ seq }) => seq !== null && seq > seqAtEnd.current).length;

  const toEnd = (): void => {
    pane.current?.scrollTo({ top: pane.current.scrollHeight });
  };
  /** The reader stays at the same entry, so the distance to the end stays the same. */
  async function showEarlier(): Promise<void> {
    const element = pane.current;
    const toEndPx = element === null ? 0 : element.scrollHeight - element.scrollTop;
    await onEarlier();
    requestAnimationFrame(() => element?.scrollTo({ top: element.scrollHeight - toEndPx }));
  }
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (isAtEnd.peek()) toEnd();
    });
    if (list.current !== null) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);

  return (
    <section class="conversation" aria-label="Conversation">
      <div
        ref={pane}
        class="pane"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.value = scrollHeight - scrollTop - clientHeight < nearEndPx;
        }}
      >
        <div ref={list}>
          {hasEarlier && (
            <ActionButton class="earlier" onAction={showEarlier}>
              Load earlier entries
            </ActionButton>
          )}
          <EntryList entries={entries} />
          {typing.thinking !== '' && typing.text === '' && <p class="muted">Thinking …</p>}
          {typing.text !== '' && <div class="typing">{stripControlCodes(typing.text)}</div>}
        </div>
      </div>
      {!isAtEnd.value && (
        <button type="button" class="to-end chip on" onClick={toEnd}>
          ↓ {newCount > 0 ? plural(newCount, 'new entry', 'new entries') : 'To the end'}
        </button>
      )}
    </section>
  );
}
