import { condition } from '@temporalio/workflow';
import { hostGivenUp } from '../run/run-outcomes.ts';
import { interrupterOf } from './interrupt-forwarder.ts';
import { type HeldPlace, isLost, type SessionContext } from './session-context.ts';

export type Attended<T> = { kind: 'done'; value: T } | { kind: 'failed'; error: unknown };

/**
 * Waits for what a sandbox's host is doing, unless that host is given up; an interrupt or an order that
 * comes in meanwhile is passed on at once. An order is recorded first, so that the sandbox which ends by
 * it is not replaced.
 */
export async function attend<T>(
  context: SessionContext,
  place: HeldPlace,
  doing: Promise<T>,
): Promise<Attended<T>> {
  const { inbox } = context;
  const interrupter = interrupterOf(context, place);
  const box: { answer: Attended<T> | null } = { answer: null };
  const isCalled = (): boolean =>
    interrupter.isDue() || inbox.order !== null || isLost(context, place.ref);
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
    if (isLost(context, place.ref)) return { kind: 'failed', error: hostGivenUp };
    if (inbox.order !== null) return stopWithin(context, place, box);
    interrupter.passOn();
  }
}

async function stopWithin<T>(
  context: SessionContext,
  { host, ref }: HeldPlace,
  box: { answer: Attended<T> | null },
): Promise<Attended<T>> {
  const { inbox, times } = context;
  await recordOrder(context);
  const graceMs = inbox.order?.graceMs ?? 0;
  await host.stopSandbox({ ...ref, graceMs }).catch(() => undefined);
  await condition(() => box.answer !== null, times.lastOutputMs, {
    summary: 'wait for the last output',
  });
  return box.answer ?? { kind: 'failed', error: new Error('the host did not answer') };
}

export async function recordOrder({ runId, inbox, work }: SessionContext): Promise<void> {
  if (inbox.order === null) return;
  await work.recordCause({ runId, cause: inbox.order.cause, detail: null });
}
