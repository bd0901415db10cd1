// Interrupts of a session's turns, checked by the lines that its agent reads.

import pino from 'pino';
import { expect, test } from 'vitest';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { createInputQueue } from '../../../../../worker/sandbox/input/input-queue.ts';
import { createOwnership, type Ownership } from '../../../../../worker/sandbox/ownership.ts';
import {
  createInterruptTurn,
  type InterruptTurn,
} from '../../../../../worker/sandbox/session/interrupt-turn.ts';
import { createSessionTurnTracker } from '../../../../../worker/sandbox/session/session-turn-tracker.ts';

const logger = pino({ enabled: false });

interface LiveTurns {
  ownership: Ownership;
  /** Sends the message to the agent, reports its start, reports its end. */
  send(messageId: string): void;
  start(messageId: string): void;
  end(messageId: string): void;
  interrupt: InterruptTurn;
  /** The lines sent so far. */
  sentLines(): Promise<string[]>;
}

function liveTurns(): LiveTurns {
  const chat = createSessionTurnTracker(null);
  const ownership = createOwnership(logger);
  const input = createInputQueue(null);
  const context = { socket: { input }, logger };
  const interrupt = createInterruptTurn({ context, turns: chat, ownership, newId: () => 'id' });
  return {
    ownership,
    send(messageId) {
      chat.start({ messageId, uuid: messageId, isAccepted: false, error: null });
      input.push(messageId);
    },
    start: (messageId) => chat.note({ startedMessage: messageId }),
    end: (messageId) => chat.note({ turnEnd: { messageId, exitCode: 0, reply: null } }),
    interrupt,
    async sentLines() {
      const lines: string[] = [];
      for (let index = 0; ; ) {
        const next = await input.next(index, AbortSignal.timeout(0));
        if (next.kind !== 'message') return lines;
        index = next.index;
        lines.push(next.line.includes('"interrupt"') ? 'interrupt' : next.line);
      }
    },
  };
}

test('an interrupt ends the turn that it names', async () => {
  const { send, start, interrupt, sentLines } = liveTurns();
  send('a');
  start('a');
  await interrupt('a');
  expect(await sentLines()).toEqual(['a', 'interrupt']);
});

test('an interrupt of a turn that has ended does nothing, even while the next turn runs', async () => {
  const { send, start, end, interrupt, sentLines } = liveTurns();
  send('a');
  start('a');
  end('a');
  await interrupt('a');
  send('b');
  await interrupt('a');
  start('b');
  await interrupt('a');
  expect(await sentLines()).toEqual(['a', 'b']);
});

test('an interrupt before the turn has started is sent after its start', async () => {
  const { send, start, interrupt, sentLines } = liveTurns();
  const unknown = interrupt('a');
  send('a');
  const waiting = interrupt('a');
  expect(await settlesWithin(0, Promise.race([unknown, waiting]))).toBe(false);
  expect(await sentLines()).toEqual(['a']);
  start('a');
  await Promise.all([unknown, waiting]);
  expect(await sentLines()).toEqual(['a', 'interrupt', 'interrupt']);
});

test('an interrupt of a turn that ended without a start is not sent to the next turn', async () => {
  const { send, start, end, interrupt, sentLines } = liveTurns();
  send('a');
  const waiting = interrupt('a');
  end('a');
  send('b');
  start('b');
  await waiting;
  expect(await sentLines()).toEqual(['a', 'b']);
});

test('an interrupt without a message id ends the current turn, but no later one', async () => {
  const { send, start, interrupt, sentLines } = liveTurns();
  await interrupt(null);
  send('a');
  const waiting = interrupt(null);
  start('a');
  await waiting;
  expect(await sentLines()).toEqual(['a', 'interrupt']);
});

test('a pending interrupt ends with its sandbox, and fails if the sandbox is released', async () => {
  const ended = liveTurns();
  ended.send('a');
  const waiting = ended.interrupt('a');
  ended.ownership.finish();
  await waiting;
  expect(await ended.sentLines()).toEqual(['a']);
  const left = liveTurns();
  left.send('a');
  const failing = left.interrupt('a');
  left.ownership.release('the lease is lost');
  await expect(failing).rejects.toThrow('the lease is lost');
});
