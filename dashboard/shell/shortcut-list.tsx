import { useEffect, useRef } from 'preact/hooks';
import { everywhere, isListOpen } from './shortcuts.ts';

/** The keys that the page understands. */
export function ShortcutList() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isListOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-label="Keyboard shortcuts"
      onClose={() => {
        isListOpen.value = false;
      }}
    >
      <h2>Keyboard shortcuts</h2>
      <dl class="keys">
        {everywhere.map(({ keys, title }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <div class="row end">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
