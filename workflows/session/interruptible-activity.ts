import { condition } from '@temporalio/workflow';
import { hostLostError } from '../run/run-outcomes.ts';
import { createInterruptForwarder } from './interrupt-forwarder.ts';
import { type ActiveSandbox, isLost, type SessionContext } from './session-context.ts';

export type ActivityResult<T> = { kind: 'done'; value: T } | { kind: 'failed'; error: unknown };

/**
 * Waits for what a sandbox's host is doing, unless that host is given up; an interrupt or an order that
 * comes in meanwhile is passed on at once. An order is recorded first, so that the sandbox which ends by
 * it is not replaced.
 */
export async function awaitInterruptible<T>(
  context: SessionContext,
  place: ActiveSandbox,
  doing: Promise<T>,
): Promise<ActivityResult<T>> {
  const { inbox } = context;
  const interrupter = createInterruptForwarder(context, place);
  const box: { answer: ActivityResult<T> | null } = { answer: null };
  const isCalled = (): boolean =>
    interrupter.isDue() || inbox.stopRequest !== null || isLost(context, place.ref);
  doing.then(
    (value) => {
      box.answer = { kind: 'done', value };
    },
    (error: unknown) => {
      box.answer = { kind: 'failed', error };
    },
  );
  for (;;) {
    await condition(() => box.answer !== null || isCalled());
    if (box.answer !== null) return box.answer;
    if (isLost(context, place.ref)) return { kind: 'failed', error: hostLostError };
    if (inbox.stopRequest !== null) return stopAndDrain(context, place, box);
    interrupter.forward();
  }
}

async function stopAndDrain<T>(
  context: SessionContext,
  { host, ref }: ActiveSandbox,
  box: { answer: ActivityResult<T> | null },
): Promise<ActivityResult<T>> {
  const { inbox, timeouts: times } = context;
  await recordStopCause(context);
  const graceMs = inbox.stopRequest?.graceMs ?? 0;
  await host.stopSandbox({ ...ref, graceMs }).catch(() => undefined);
  await condition(() => box.answer !== null, times.outputDrainMs, {
    summary: 'wait for the last output',
  });
  return box.answer ?? { kind: 'failed', error: new Error('the host did not answer') };
}

export async function recordStopCause({
  runId,
  inbox,
  activities: work,
}: SessionContext): Promise<void> {
  if (inbox.stopRequest === null) return;
  await work.recordCause({ runId, cause: inbox.stopRequest.cause, detail: null });
}
