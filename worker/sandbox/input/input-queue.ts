/**
 * What the agent is to read, asked for by the entry program one message at a time.
 *
 * The asking can be anyone inside the sandbox, so an answer takes nothing away: the message after
 * any index is found again as often as it is asked for. After a restart of this process the list
 * begins anew while the entry program's index does not: what is pushed stands after the highest
 * index that was asked for, and what was pushed before the first question came moves there.
 */
export interface Input {
  push(line: string): void;
  /** Nothing follows what was pushed; the agent's input is closed after it. */
  close(): void;
  next(after: number, signal: AbortSignal): Promise<NextInput>;
}

export type NextInput =
  | { kind: 'message'; index: number; line: string }
  | { kind: 'closed' }
  | { kind: 'none' };

interface Message {
  index: number;
  line: string;
  handedOut: boolean;
}

/** `first` keeps its index for ever: a sandbox that asks after it has it. A session has none. */
export function createInput(first: string | null): Input {
  const messages: Message[] = first === null ? [] : [{ index: 1, line: first, handedOut: true }];
  const waiting = new Set<() => void>();
  let highest = messages.length;
  let closed = false;

  function answer(after: number): NextInput {
    const message = messages.find(({ index }) => index > after);
    if (message === undefined) return { kind: closed ? 'closed' : 'none' };
    message.handedOut = true;
    return { kind: 'message', index: message.index, line: message.line };
  }

  function moveBeyond(after: number): void {
    highest = Math.max(highest, after);
    for (const message of messages) {
      if (!message.handedOut && message.index <= after) message.index = ++highest;
    }
  }

  function wakeAll(): void {
    for (const wake of waiting) wake();
  }

  return {
    push(line) {
      if (closed) return;
      messages.push({ index: ++highest, line, handedOut: false });
      wakeAll();
    },
    close() {
      closed = true;
      wakeAll();
    },
    async next(after, signal) {
      moveBeyond(after);
      while (answer(after).kind === 'none' && !signal.aborted) {
        await wakeUp(waiting, signal);
      }
      return answer(after);
    },
  };
}

function wakeUp(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    waiting.add(wake);
    signal.addEventListener('abort', wake);
  });
}
