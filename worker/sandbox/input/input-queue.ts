/**
 * What the agent is to read, asked for by the entry program one message at a time.
 *
 * The asking can be anyone inside the sandbox, so an answer takes nothing away: the message after
 * any index is found again as often as it is asked for. After a restart of this process the list
 * begins anew while the entry program's index does not: what is pushed stands after the highest
 * index that was asked for, and what was pushed before the first question came moves there.
 */
export interface AgentInputQueue {
  push(line: string): void;
  /** Nothing follows what was pushed; the agent's input is closed after it. */
  close(): void;
  next(after: number, signal: AbortSignal): Promise<NextInput>;
}

type NextInput =
  | { kind: 'message'; index: number; line: string }
  | { kind: 'closed' }
  | { kind: 'none' };

interface Message {
  index: number;
  line: string;
  delivered: boolean;
}

/** `first` keeps its index for ever: a sandbox that asks after it has it. A session has none. */
export function createInputQueue(first: string | null): AgentInputQueue {
  const messages: Message[] = first === null ? [] : [{ index: 1, line: first, delivered: true }];
  const waiting = new Set<() => void>();
  let highest = messages.length;
  let closed = false;

  function answer(after: number): NextInput {
    const message = messages.find(({ index }) => index > after);
    if (message === undefined) return { kind: closed ? 'closed' : 'none' };
    message.delivered = true;
    return { kind: 'message', index: message.index, line: message.line };
  }

  function renumberPast(after: number): void {
    highest = Math.max(highest, after);
    for (const message of messages) {
      if (!message.delivered && message.index <= after) message.index = ++highest;
    }
  }

  function notifyAll(): void {
    for (const notify of waiting) notify();
  }

  return {
    push(line) {
      if (closed) return;
      messages.push({ index: ++highest, line, delivered: false });
      notifyAll();
    },
    close() {
      closed = true;
      notifyAll();
    },
    async next(after, signal) {
      renumberPast(after);
      while (answer(after).kind === 'none' && !signal.aborted) {
        await waitForChange(waiting, signal);
      }
      return answer(after);
    },
  };
}

function waitForChange(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const notify = (): void => {
      waiting.delete(notify);
      signal.removeEventListener('abort', notify);
      resolve();
    };
    waiting.add(notify);
    signal.addEventListener('abort', notify);
  });
}
