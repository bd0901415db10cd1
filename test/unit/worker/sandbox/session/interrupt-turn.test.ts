// Interrupts of a session's turns, as its agent is told of them: the lines that it reads, in order.

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
  /** The agent is given the message, and begins it, and ends it. */
  give(messageId: string): void;
  begin(messageId: string): void;
  end(messageId: string): void;
  interrupt: InterruptTurn;
  /** What it was told so far. */
  told(): Promise<string[]>;
}

function liveTurns(): LiveTurns {
  const chat = createSessionTurnTracker(null);
  const ownership = createOwnership(logger);
  const input = createInputQueue(null);
  const context = { socket: { input }, logger };
  const interrupt = createInterruptTurn({ context, turns: chat, ownership, newId: () => 'id' });
  return {
    ownership,
    give(messageId) {
      chat.start({ messageId, uuid: messageId, isAccepted: false, error: null });
      input.push(messageId);
    },
    begin: (messageId) => chat.note({ startedMessage: messageId }),
    end: (messageId) =>
      chat.note({ turnEnd: { messageId, exitCode: 0, reply: null, usage: null, costUsd: null } }),
    interrupt,
    async told() {
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

test('end the turn that they are of', async () => {
  const { give, begin, interrupt, told } = liveTurns();
  give('a');
  begin('a');
  await interrupt('a');
  expect(await told()).toEqual(['a', 'interrupt']);
});

test('of a turn that has ended do nothing: between two, and when the next one goes on', async () => {
  const { give, begin, end, interrupt, told } = liveTurns();
  give('a');
  begin('a');
  end('a');
  await interrupt('a');
  give('b');
  await interrupt('a');
  begin('b');
  await interrupt('a');
  expect(await told()).toEqual(['a', 'b']);
});

test('that come before the agent has waitUntilStarted are said when it has', async () => {
  const { give, begin, interrupt, told } = liveTurns();
  const unknown = interrupt('a');
  give('a');
  const given = interrupt('a');
  expect(await settlesWithin(0, Promise.race([unknown, given]))).toBe(false);
  expect(await told()).toEqual(['a']);
  begin('a');
  await Promise.all([unknown, given]);
  expect(await told()).toEqual(['a', 'interrupt', 'interrupt']);
});

test('that come before a turn which ends unbegun are not said to the next one', async () => {
  const { give, begin, end, interrupt, told } = liveTurns();
  give('a');
  const waiting = interrupt('a');
  end('a');
  give('b');
  begin('b');
  await waiting;
  expect(await told()).toEqual(['a', 'b']);
});

test('of nothing in particular end whichever turn goes on, and none that is still to come', async () => {
  const { give, begin, interrupt, told } = liveTurns();
  await interrupt(null);
  give('a');
  const given = interrupt(null);
  begin('a');
  await given;
  expect(await told()).toEqual(['a', 'interrupt']);
});

test('end with their sandbox, and are asked again where it is another who looks after it', async () => {
  const ended = liveTurns();
  ended.give('a');
  const waiting = ended.interrupt('a');
  ended.ownership.finish();
  await waiting;
  expect(await ended.told()).toEqual(['a']);
  const left = liveTurns();
  left.give('a');
  const failing = left.interrupt('a');
  left.ownership.release('the lease is lost');
  await expect(failing).rejects.toThrow('the lease is lost');
});
