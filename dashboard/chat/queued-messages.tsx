import type { UnfinishedMessage } from '../../client/generated/types.ts';
import { oneLine, stripControlCodes } from '../../core/sanitize-text.ts';

interface QueuedMessagesProps {
  messages: readonly UnfinishedMessage[];
  onWithdraw: (messageId: string) => Promise<boolean>;
}

/** Messages that wait for the turns before them. Each can be withdrawn until its turn begins. */
export function QueuedMessages({ messages, onWithdraw }: QueuedMessagesProps) {
  if (messages.length === 0) return null;
  return (
    <ol class="plain queue" aria-label="Queued messages">
      {messages.map(({ messageId, position, text }) => (
        <li key={messageId} class="row">
          <span class="muted number">{position}</span>
          <span class="cut">{oneLine(stripControlCodes(text), 200)}</span>
          <button type="button" class="quiet" onClick={() => void onWithdraw(messageId)}>
            Withdraw
          </button>
        </li>
      ))}
    </ol>
  );
}
