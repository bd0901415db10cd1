import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { RunFeed } from '../run/run-feed.ts';
import { FailureNote } from '../ui/failure-note.tsx';
import { plural } from '../ui/format.ts';
import { QueuedMessages } from './queued-messages.tsx';
import { useOutbox } from './use-outbox.ts';

interface ComposerProps {
  feed: RunFeed;
  isWorking: boolean;
}

/** The field for the next message. Messages that are sent during a turn are queued. */
export function Composer({ feed, isWorking }: ComposerProps) {
  const { queue, failure, isBusy, send, withdraw, interrupt } = useOutbox(feed);
  const form = useRef<HTMLFormElement>(null);
  const text = useSignal('');
  const files = useSignal<readonly File[]>([]);

  async function submit(): Promise<void> {
    const message = text.value.trim();
    if (message === '' || isBusy.value) return;
    if (!(await send(message, await Promise.all(files.value.map(contentOf))))) return;
    text.value = '';
    files.value = [];
    form.current?.reset();
  }
  function onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape' && isWorking) void interrupt();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  }

  return (
    <form
      ref={form}
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <QueuedMessages messages={queue.value} onWithdraw={withdraw} />
      {failure.value !== null && <FailureNote failure={failure.value} />}
      <textarea
        rows={3}
        data-search
        aria-label="Message"
        placeholder="Enter sends the message. Shift+Enter starts a new line."
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
        onKeyDown={onKey}
      />
      <div class="row">
        <FileField count={files.value.length} onChange={(chosen) => (files.value = chosen)} />
        {isWorking && (
          <button type="button" onClick={() => void interrupt()}>
            Interrupt (Esc)
          </button>
        )}
        <button type="submit" class="primary send" disabled={isBusy.value}>
          Send
        </button>
      </div>
    </form>
  );
}

interface FileFieldProps {
  count: number;
  onChange: (files: readonly File[]) => void;
}

function FileField({ count, onChange }: FileFieldProps) {
  return (
    <label class="button">
      {count === 0 ? 'Add files' : plural(count, 'file')}
      <input
        class="hidden"
        type="file"
        multiple
        onChange={({ currentTarget }) => onChange([...(currentTarget.files ?? [])])}
      />
    </label>
  );
}

const contentOf = async (file: File) => ({
  path: file.name,
  content: new Uint8Array(await file.arrayBuffer()),
});
