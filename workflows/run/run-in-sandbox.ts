import { CancellationScope, sleep } from '@temporalio/workflow';
import type { HostActivities, RunActivities, SandboxRef } from '../shared/activities.ts';
import type { RunTimes } from '../shared/run-timeouts.ts';
import type { Order } from '../shared/stop-request.ts';
import {
  type Ending,
  followFailed,
  overBeforeStart,
  startFailed,
  unanswered,
} from './run-outcomes.ts';

export interface SandboxRun {
  ref: SandboxRef;
  host: HostActivities;
  work: RunActivities;
  orders: Promise<Order>;
  times: RunTimes;
  onPhase(phase: string): void;
}

/**
 * The race: the sandbox's own end, an order from outside, the time limit. An order is recorded
 * first and carried out on the host's other queue; then the sandbox's own end is waited for, so
 * that its last output is read. A host that does not take the stop cannot hold the run up.
 */
export async function runInSandbox(run: SandboxRun): Promise<Ending> {
  const racing = new CancellationScope();
  const sandbox = racing.run(() => startAndFollow(run));
  const limit = racing.run(() => timeLimit(run.times));
  try {
    const first = await Promise.race([sandbox, limit, run.orders]);
    return 'kind' in first ? first : await carryOut(first, sandbox, run);
  } finally {
    racing.cancel();
  }
}

async function startAndFollow({ host, ref, onPhase }: SandboxRun): Promise<Ending> {
  try {
    const { outcome } = await host.startSandbox(ref);
    if (outcome === 'over') return overBeforeStart;
  } catch (error) {
    return startFailed(error);
  }
  onPhase('following the agent');
  try {
    return { kind: 'sandbox-ended', end: await host.followRun(ref) };
  } catch (error) {
    return followFailed(error);
  }
}

async function timeLimit(times: RunTimes): Promise<Order> {
  await sleep(times.runMs, { summary: 'time limit of the run' });
  return { cause: 'timed_out', graceMs: times.timeLimitGraceMs };
}

async function carryOut(order: Order, sandbox: Promise<Ending>, run: SandboxRun): Promise<Ending> {
  run.onPhase('stopping');
  await run.work.recordCause({ runId: run.ref.runId, cause: order.cause, detail: null });
  try {
    await run.host.stopSandbox({ ...run.ref, graceMs: order.graceMs });
  } catch {
    return unanswered(order);
  }
  return lastWord(order, sandbox, run.times);
}

async function lastWord(order: Order, sandbox: Promise<Ending>, times: RunTimes): Promise<Ending> {
  const waiting = new CancellationScope();
  const late = waiting.run(async () => {
    await sleep(times.lastOutputMs, { summary: 'wait for the last output' });
    return unanswered(order);
  });
  const first = await Promise.race([sandbox, late]);
  waiting.cancel();
  return first;
}
