import { CancellationScope, patched, setHandler } from '@temporalio/workflow';
import {
  hostLostSignal,
  interruptSignal,
  messageSignal,
  sleepSignal,
  stopSignal,
} from '../shared/signals.ts';
import type { StopRequest } from '../shared/stop-request.ts';

/** What a session's workflow was told and has not acted upon. Handlers write it, the main loop acts. */
export interface Inbox {
  /** There may be messages. */
  hasPendingMessages: boolean;
  /** The turn that goes on is to end, whichever it is. */
  interruptCurrentTurn: boolean;
  /** Messages whose turns are to end, and none but these; until a turn has come to its end. */
  interruptedMessageIds: Set<string>;
  sleepRequested: boolean;
  /** Sandboxes up to this one are on hosts that are given up; 0 as long as none is. */
  lostThroughGeneration: number;
  /** It is to end; the first order counts. */
  stopRequest: StopRequest | null;
}

export function createInbox(isDue: boolean, graceMs: number): Inbox {
  const inbox: Inbox = {
    hasPendingMessages: isDue,
    interruptCurrentTurn: false,
    interruptedMessageIds: new Set(),
    sleepRequested: false,
    lostThroughGeneration: 0,
    stopRequest: null,
  };
  const end = (order: StopRequest): void => {
    inbox.stopRequest ??= order;
  };
  setHandler(
    messageSignal,
    () => {
      inbox.hasPendingMessages = true;
    },
    { description: 'There is a message: the oldest one that is left comes next.' },
  );
  setHandler(
    interruptSignal,
    (interruption) => {
      const messageId = interruption?.messageId;
      // Workers that did not know names passed on each interrupt as one by hand, named or not.
      if (messageId === undefined || !patched('named-interrupts'))
        inbox.interruptCurrentTurn = true;
      else inbox.interruptedMessageIds.add(messageId);
    },
    { description: 'End the turn of `messageId`, or the one that is going on; the session stays.' },
  );
  setHandler(
    sleepSignal,
    () => {
      inbox.sleepRequested = true;
    },
    { description: 'Put the session to sleep if it has nothing to do.' },
  );
  setHandler(
    hostLostSignal,
    ({ generation }) => {
      inbox.lostThroughGeneration = Math.max(inbox.lostThroughGeneration, generation);
      // Whether there is a message or not, the place is given back by whoever asks for the next.
      inbox.hasPendingMessages = true;
    },
    { description: 'The host of this sandbox is given up: go on in another.' },
  );
  setHandler(stopSignal, (stop) => end({ cause: 'terminated_by_operator', ...stop }), {
    description: 'End the session: interrupt its agent, then end its sandbox after `graceMs`.',
  });
  CancellationScope.current().cancelRequested.catch(() =>
    end({ cause: 'terminated_by_operator', graceMs }),
  );
  return inbox;
}
