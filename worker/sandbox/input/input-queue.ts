import type { NextMessage } from '../../egress/control-api.ts';
import { uuidV5 } from './uuid-v5.ts';

/**
 * Messages for the agent. The entry program requests them one by one.
 *
 * Any process in the sandbox can send requests, so a request consumes nothing: the message after an
 * index can be requested again until the agent has acknowledged it, or a later one, in its output.
 * Then the queue drops it, so a long session does not fill this process's memory. After a restart
 * of this process the list is empty, but the entry program keeps its index. So new messages are
 * numbered after the highest requested index, and messages that were pushed before the first
 * request are renumbered.
 */
export interface AgentInputQueue {
  /** The agent's output acknowledges the message by its UUID. */
  sendMessage(uuid: string, text: string): void;
  /** Interrupts the turn. The agent responds with its `result`. */
  interrupt(requestId: string): void;
  /** With an ID, the agent's output acknowledges the line by it. */
  push(line: string, id?: string): void;
  /**
   * Drops the message with this ID and all before it. No effect if the sandbox has not requested
   * it.
   */
  acknowledge(id: string): void;
  /** Closes the agent's input after the messages that were pushed. */
  close(): void;
  next(after: number, signal: AbortSignal): Promise<NextMessage>;
}

interface Message {
  index: number;
  line: string;
  id: string | undefined;
  delivered: boolean;
}

interface FirstMessage {
  line: string;
  id: string;
}

/**
 * `first` always has index 1: a sandbox that requests the next one has received it. The observer is
 * called once per message, however often the sandbox requests it.
 */
export function createInputQueue(
  first: FirstMessage | null,
  onFirstDelivery: (index: number) => void = () => undefined,
): AgentInputQueue {
  let messages: Message[] = first === null ? [] : [{ ...first, index: 1, delivered: true }];
  const waiting = new Set<() => void>();
  let highest = messages.length;
  let lastDelivered = 0;
  let closed = false;

  function answer(after: number): NextMessage {
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

  function push(line: string, id?: string): void {
    if (closed) return;
    messages.push({ index: ++highest, line, id, delivered: false });
    notifyAll();
  }

  return {
    sendMessage: (uuid, text) => push(messageLine(uuid, text), uuid),
    interrupt: (requestId) => push(interruptLine(requestId)),
    push,
    acknowledge(id) {
      const known = messages.find((message) => message.id === id && message.delivered);
      if (known) messages = messages.filter(({ index }) => index > known.index);
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
      const next = answer(after);
      if (next.kind === 'message' && next.index > lastDelivered) {
        lastDelivered = next.index;
        onFirstDelivery(lastDelivered);
      }
      return next;
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

/**
 * The prompt as a message. Its UUID is constant for one sandbox, so a repeated message runs once.
 * The next generation has another UUID, because the agent would ignore a known one.
 */
export function promptMessage(run: {
  runId: string;
  generation: number;
  prompt: string;
}): FirstMessage {
  const id = messageUuid(uuidV5(run.runId, 'prompt'), run.generation);
  return { line: messageLine(id, run.prompt), id };
}

export function messageUuid(messageId: string, generation: number): string {
  return uuidV5(messageId, String(generation));
}

function messageLine(uuid: string, content: string): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content }, uuid });
}

function interruptLine(requestId: string): string {
  return JSON.stringify({
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'interrupt' },
  });
}
