import { condition } from '@temporalio/workflow';
import { hostLostError } from '../run/run-outcomes.ts';
import type { InterruptPayload } from '../shared/signals.ts';
import { type ActiveSandbox, isLost, type SessionContext } from './session-context.ts';

type ActivityResult<T> = { kind: 'done'; value: T } | { kind: 'failed'; error: unknown };

/** The activity's result; null while it runs. */
interface Pending<T> {
  result: ActivityResult<T> | null;
}

/**
 * Waits for an activity of the sandbox's host. Interrupts and stop requests that arrive meanwhile
 * are forwarded to the host at once, and the loss of the host ends the wait. A stop's cause is
 * recorded first, so that the stopped sandbox is not replaced.
 */
export async function awaitInterruptible<T>(
  context: SessionContext,
  sandbox: ActiveSandbox,
  activity: Promise<T>,
): Promise<ActivityResult<T>> {
  const { inbox } = context;
  const interrupts = createInterruptForwarder(context, sandbox);
  const pending: Pending<T> = { result: null };
  const mustAct = (): boolean =>
    interrupts.hasPending() || inbox.stopRequest !== null || isLost(context, sandbox.ref);
  activity.then(
    (value) => {
      pending.result = { kind: 'done', value };
    },
    (error: unknown) => {
      pending.result = { kind: 'failed', error };
    },
  );
  for (;;) {
    await condition(() => pending.result !== null || mustAct());
    if (pending.result !== null) return pending.result;
    if (isLost(context, sandbox.ref)) return { kind: 'failed', error: hostLostError };
    if (inbox.stopRequest !== null) return stopAndDrain(context, sandbox, pending);
    interrupts.forward();
  }
}

/** Forwards each interrupt to the sandbox's host once. */
interface InterruptForwarder {
  hasPending(): boolean;
  forward(): void;
}

/**
 * A turn that was lost with its sandbox continues in the next one, and its interrupt applies there.
 * A sandbox that is still starting has no turn, so the interrupt is forwarded after the start.
 */
function createInterruptForwarder(
  { inbox, state }: SessionContext,
  { host, ref }: ActiveSandbox,
): InterruptForwarder {
  const pending = (): string[] => {
    if (state.sandbox?.generation !== ref.generation) return [];
    const interrupted = [...inbox.interruptedMessages];
    return interrupted.flatMap(([id, forwardedTo]) => (forwardedTo < ref.generation ? id : []));
  };
  const interrupt = (turn: InterruptPayload): void =>
    void host.interruptTurn({ ...ref, ...turn }).catch(() => undefined);
  return {
    hasPending: () => inbox.interruptCurrentTurn || pending().length > 0,
    forward() {
      if (inbox.interruptCurrentTurn) interrupt({});
      inbox.interruptCurrentTurn = false;
      for (const messageId of pending()) {
        inbox.interruptedMessages.set(messageId, ref.generation);
        interrupt({ messageId });
      }
    },
  };
}

/**
 * Forwarded interrupts have no effect after their turn. One that was not forwarded may be for the
 * next message, whose turn the host begins as soon as this one has ended.
 */
export function dropForwardedInterrupts({ inbox }: SessionContext): void {
  for (const [messageId, forwardedTo] of inbox.interruptedMessages)
    if (forwardedTo > 0) inbox.interruptedMessages.delete(messageId);
}

async function stopAndDrain<T>(
  context: SessionContext,
  { host, ref }: ActiveSandbox,
  pending: Pending<T>,
): Promise<ActivityResult<T>> {
  const { inbox, timeouts } = context;
  await recordStopCause(context);
  const graceMs = inbox.stopRequest?.graceMs ?? 0;
  await host.stopSandbox({ ...ref, graceMs }).catch(() => undefined);
  await condition(() => pending.result !== null, timeouts.outputDrainMs, {
    summary: 'wait for the last output',
  });
  return pending.result ?? { kind: 'failed', error: new Error('the host did not answer') };
}

export async function recordStopCause({ runId, inbox, activities }: SessionContext): Promise<void> {
  if (inbox.stopRequest === null) return;
  await activities.recordCause({ runId, cause: inbox.stopRequest.cause, detail: null });
}
