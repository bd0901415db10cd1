import { CancellationScope, sleep } from '@temporalio/workflow';
import type { HostActivities, RunActivities, SandboxRef } from '../shared/activities.ts';
import type { RunTimeouts } from '../shared/run-timeouts.ts';
import type { StopRequest } from '../shared/stop-request.ts';
import {
  endedBeforeStart,
  followFailed,
  hostUnresponsive,
  type RunOutcome,
  startFailed,
} from './run-outcomes.ts';

export interface SandboxRun {
  ref: SandboxRef;
  host: HostActivities;
  activities: RunActivities;
  stopRequested: Promise<StopRequest>;
  timeouts: RunTimeouts;
  onPhase(phase: string): void;
}

/**
 * The race: the sandbox's own end, an order from outside, the time limit. An order is recorded
 * first and carried out on the host's other queue; then the sandbox's own end is waited for, so
 * that its last output is read. A host that does not take the stop cannot hold the run up.
 */
export async function runInSandbox(run: SandboxRun): Promise<RunOutcome> {
  const racing = new CancellationScope();
  const sandbox = racing.run(() => startAndFollow(run));
  const limit = racing.run(() => timeLimit(run.timeouts));
  try {
    const first = await Promise.race([sandbox, limit, run.stopRequested]);
    return 'kind' in first ? first : await executeStop(first, sandbox, run);
  } finally {
    racing.cancel();
  }
}

async function startAndFollow({ host, ref, onPhase }: SandboxRun): Promise<RunOutcome> {
  try {
    const { outcome } = await host.startSandbox(ref);
    if (outcome === 'over') return endedBeforeStart;
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

async function timeLimit(times: RunTimeouts): Promise<StopRequest> {
  await sleep(times.runMs, { summary: 'time limit of the run' });
  return { cause: 'timed_out', graceMs: times.timeLimitGraceMs };
}

async function executeStop(
  order: StopRequest,
  sandbox: Promise<RunOutcome>,
  run: SandboxRun,
): Promise<RunOutcome> {
  run.onPhase('stopping');
  await run.activities.recordCause({ runId: run.ref.runId, cause: order.cause, detail: null });
  try {
    await run.host.stopSandbox({ ...run.ref, graceMs: order.graceMs });
  } catch {
    return hostUnresponsive(order);
  }
  return drainOutput(order, sandbox, run.timeouts);
}

async function drainOutput(
  order: StopRequest,
  sandbox: Promise<RunOutcome>,
  times: RunTimeouts,
): Promise<RunOutcome> {
  const waiting = new CancellationScope();
  const late = waiting.run(async () => {
    await sleep(times.outputDrainMs, { summary: 'wait for the last output' });
    return hostUnresponsive(order);
  });
  const first = await Promise.race([sandbox, late]);
  waiting.cancel();
  return first;
}
