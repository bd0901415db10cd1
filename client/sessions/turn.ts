import type { QueuedMessage, Turn } from '../generated/types.ts';
import { WaitLimit } from '../http/errors.ts';
import type { RunEvent } from '../stream/events.ts';
import { createTextReader } from './turn-text.ts';

/** A message that was sent: an iterable of the answer's text, and a promise of the turn. */
export interface PendingTurn extends AsyncIterable<string>, PromiseLike<Turn> {
  /** Resolves when the service has stored the message. */
  readonly queued: Promise<QueuedMessage>;
  /** Yields the events from the start of the turn to its end. */
  events(): AsyncGenerator<RunEvent, void, undefined>;
}

interface TurnRequest {
  /** Sends the message. Without `exitCode` in the result, the turn has not ended yet. */
  send(options: { isWaiting: boolean }): Promise<Turn | QueuedMessage>;
  /** The events after the message was sent. */
  follow(): AsyncGenerator<RunEvent, void, undefined>;
}

/** Sends the message immediately. Reading the turn sends it again with the same ID. */
export function pendingTurn({ send, follow }: TurnRequest): PendingTurn {
  const queued = send({ isWaiting: false });
  // A failure before the first read is not unhandled: every reader gets it.
  queued.catch(() => undefined);
  let ended: Promise<Turn> | undefined;

  async function* events(): AsyncGenerator<RunEvent, void, undefined> {
    const { messageId } = await queued;
    let hasStarted = false;
    for await (const event of follow()) {
      const isOwn = 'data' in event && idIn(event.data) === messageId;
      hasStarted ||= isOwn;
      if (hasStarted) yield event;
      const isEnd = event.type === 'turn_end' || event.type === 'message_withdrawn';
      if (isOwn && isEnd) return;
    }
  }

  async function untilEnd(): Promise<void> {
    for await (const event of events()) if (event.type === 'turn_end') return;
  }

  async function waitForTurn(): Promise<Turn> {
    await queued;
    for (;;) {
      try {
        const answer = await send({ isWaiting: true });
        if ('exitCode' in answer) return answer;
      } catch (error) {
        if (!(error instanceof WaitLimit)) throw error;
        await untilEnd();
      }
    }
  }

  return {
    queued: queued as Promise<QueuedMessage>, // the answer of a request that does not wait
    events,
    async *[Symbol.asyncIterator]() {
      const read = createTextReader();
      for await (const event of events()) yield* read(event);
    },
    // oxlint-disable-next-line unicorn/no-thenable -- the turn can be awaited
    then: (onEnd, onError) => (ended ??= waitForTurn()).then(onEnd, onError),
  };
}

const idIn = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && 'messageId' in data ? data.messageId : undefined;
