import { type Signal, useSignal } from '@preact/signals';
import type { RunFeed } from '../run/run-feed.ts';
import { FailureNote } from '../ui/failure-note.tsx';
import { bytesText } from '../ui/format.ts';
import { QueuedMessages } from './queued-messages.tsx';
import { useOutbox } from './use-outbox.ts';

interface ComposerProps {
  feed: RunFeed;
  isWorking: boolean;
}

/** The field for the next message. Messages that are sent during a turn are queued. */
export function Composer({ feed, isWorking }: ComposerProps) {
  const { queue, failure, isBusy, send, withdraw, interrupt } = useOutbox(feed);
  const text = useSignal('');
  const files = useSignal<readonly File[]>([]);

  async function submit(): Promise<void> {
    const message = text.value.trim();
    if (message === '' || isBusy.value) return;
    if (!(await send(message, await Promise.all(files.value.map(contentOf))))) return;
    text.value = '';
    files.value = [];
  }
  function onKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === 'Escape' && isWorking) void interrupt();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void submit();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        files.value = [...files.value, ...(event.dataTransfer?.files ?? [])];
      }}
    >
      <QueuedMessages messages={queue} onWithdraw={withdraw} />
      {failure.value !== null && <FailureNote failure={failure.value} />}
      <MessageField text={text} onKey={onKey} />
      <ChosenFiles files={files.value} onChange={(chosen) => (files.value = chosen)} />
      <div class="row">
        <FileField onChange={(chosen) => (files.value = [...files.value, ...chosen])} />
        <span class="muted small keys-hint">
          Enter sends the message. Shift+Enter starts a new line.
        </span>
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

interface MessageFieldProps {
  text: Signal<string>;
  onKey: (event: KeyboardEvent) => void;
}

function MessageField({ text, onKey }: MessageFieldProps) {
  return (
    <textarea
      rows={3}
      data-search
      aria-label="Message"
      placeholder="Message the agent"
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
      onKeyDown={onKey}
    />
  );
}

type OnFiles = (files: readonly File[]) => void;

/** The files of the next message. */
function ChosenFiles({ files, onChange }: { files: readonly File[]; onChange: OnFiles }) {
  return (
    <div class="chips">
      {files.map((file, at) => (
        <button
          key={at}
          type="button"
          class="chip"
          aria-label={`Remove ${file.name}`}
          onClick={() => onChange(files.filter((_, other) => other !== at))}
        >
          {file.name} · {bytesText(file.size)} ×
        </button>
      ))}
    </div>
  );
}

/** Files can also be dropped on the form. */
function FileField({ onChange }: { onChange: OnFiles }) {
  return (
    <label class="button">
      Add files
      <input
        class="hidden"
        type="file"
        multiple
        onChange={({ currentTarget }) => {
          onChange([...(currentTarget.files ?? [])]);
          currentTarget.value = ''; // the same file can be added again after it was removed
        }}
      />
    </label>
  );
}

const contentOf = async (file: File) => ({
  path: file.name,
  content: new Uint8Array(await file.arrayBuffer()),
});
