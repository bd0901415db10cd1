import { CancellationScope, setHandler } from '@temporalio/workflow';
import {
  hostLostSignal,
  interruptSignal,
  messageSignal,
  sleepSignal,
  stopSignal,
} from '../shared/signals.ts';
import { operatorStop, type StopRequest } from '../shared/stop-request.ts';

/** Received and not yet acted upon. The signal handlers write it, and the main loop acts. */
export interface Inbox {
  /** Messages may be waiting in Postgres. */
  hasPendingMessages: boolean;
  /** The messages that were signalled since the last turn began. */
  signalledMessageIds: Set<string>;
  /** The current turn must end, whichever message it is for. */
  interruptCurrentTurn: boolean;
  /**
   * Messages whose turns must end. The value is the number of the sandbox that the interrupt was
   * last forwarded to, or 0. Forwarded interrupts are removed when a turn has finished.
   */
  interruptedMessages: Map<string, number>;
  sleepRequested: boolean;
  /** Sandboxes up to this number are on lost hosts; 0 if none is. */
  lostThroughGeneration: number;
  /** Sandboxes up to this number are lost unless they were started; 0 if none is. */
  unstartableThroughGeneration: number;
  /** The first stop request applies. */
  stopRequest: StopRequest | null;
}

/** For a signal sent by hand. No turn has this ID, so the host looks for messages. */
const unknownMessageId = '';

export function createInbox(hasPendingMessages: boolean, graceMs: number): Inbox {
  const inbox: Inbox = {
    hasPendingMessages,
    signalledMessageIds: new Set(),
    interruptCurrentTurn: false,
    interruptedMessages: new Map(),
    sleepRequested: false,
    lostThroughGeneration: 0,
    unstartableThroughGeneration: 0,
    stopRequest: null,
  };
  const requestStop = (stopGraceMs: number): void => {
    inbox.stopRequest ??= operatorStop(stopGraceMs);
  };
  setHandler(
    messageSignal,
    (message) => {
      inbox.hasPendingMessages = true;
      inbox.signalledMessageIds.add(message?.messageId ?? unknownMessageId);
    },
    { description: 'A message was stored. The oldest waiting message is next.' },
  );
  setHandler(
    interruptSignal,
    (interrupt) => {
      const messageId = interrupt?.messageId;
      if (messageId === undefined) inbox.interruptCurrentTurn = true;
      else if (!inbox.interruptedMessages.has(messageId))
        inbox.interruptedMessages.set(messageId, 0);
    },
    { description: 'End the turn of `messageId`, or the current turn. The session continues.' },
  );
  setHandler(
    sleepSignal,
    () => {
      inbox.sleepRequested = true;
    },
    { description: 'Put the session to sleep as soon as it has no work.' },
  );
  setHandler(
    hostLostSignal,
    ({ generation, ifUnstarted = false }) => {
      const through = ifUnstarted ? 'unstartableThroughGeneration' : 'lostThroughGeneration';
      inbox[through] = Math.max(inbox[through], generation);
      if (ifUnstarted) return;
      // Even without a message: claiming the next slot releases the lost one.
      inbox.hasPendingMessages = true;
    },
    { description: 'The host of this sandbox is lost or leaves. Continue in another sandbox.' },
  );
  setHandler(stopSignal, (stop) => requestStop(stop?.graceMs ?? graceMs), {
    description: 'End the session: interrupt its agent, then end its sandbox after `graceMs`.',
  });
  CancellationScope.current().cancelRequested.catch(() => requestStop(graceMs));
  return inbox;
}
