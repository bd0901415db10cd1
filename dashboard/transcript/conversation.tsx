import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Transcript } from '../../client/transcript/state.ts';
import { stripControlCodes } from '../../core/sanitize-text.ts';
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
  const countAtEnd = useRef(0);
  const { entries, typing } = transcript;
  if (isAtEnd.value) countAtEnd.current = entries.length;
  const newCount = entries.length - countAtEnd.current;

  const toEnd = (): void => {
    pane.current?.scrollTo({ top: pane.current.scrollHeight });
  };
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
            <button type="button" class="earlier" onClick={() => void onEarlier()}>
              Load earlier entries
            </button>
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
