import type { UnfinishedMessage } from '../../client/generated/types.ts';
import { oneLine, stripControlCodes } from '../../core/sanitize-text.ts';

interface QueuedMessagesProps {
  /** In the order of their turns. */
  messages: readonly UnfinishedMessage[];
  onWithdraw: (messageId: string) => Promise<boolean>;
}

/** Messages that wait for the turns before them. Each can be withdrawn until its turn begins. */
export function QueuedMessages({ messages, onWithdraw }: QueuedMessagesProps) {
  if (messages.length === 0) return null;
  return (
    <ol class="plain queue" aria-label="Queued messages">
      {messages.map(({ messageId, state, text }, at) => (
        <li key={messageId} class="row">
          <span class="muted number">{at + 1}</span>
          <span class="cut" title={oneLine(stripControlCodes(text), 1_000)}>
            {oneLine(stripControlCodes(text), 200)}
          </span>
          {state === 'queued' ? (
            <button type="button" class="quiet" onClick={() => void onWithdraw(messageId)}>
              Withdraw
            </button>
          ) : (
            <span class="muted small">Its turn begins …</span>
          )}
        </li>
      ))}
    </ol>
  );
}
