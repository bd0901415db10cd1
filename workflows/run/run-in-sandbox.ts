import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import type { HostActivities, RunActivities, SandboxRef } from '../shared/activities.ts';
import type { RunTimeouts } from '../shared/run-timeouts.ts';
import type { StopRequest } from '../shared/stop-request.ts';
import type { ReportDetails } from '../shared/workflow-details.ts';
import type { HostLoss } from './host-loss.ts';
import {
  endedBeforeStart,
  followFailed,
  hostLeaves,
  hostUnresponsive,
  notStarted,
  type RunOutcome,
  startFailed,
} from './run-outcomes.ts';

interface SandboxRun {
  ref: SandboxRef;
  host: HostActivities;
  activities: RunActivities;
  stopRequested: Promise<StopRequest>;
  hostLoss: HostLoss;
  timeouts: RunTimeouts;
  report: ReportDetails;
}

/**
 * Races the sandbox's own end, a stop request and the time limit. A stop's cause is recorded before
 * the stop is executed on the host's queue for short activities. The workflow then waits for the
 * sandbox's end, so that its last output is read. An unresponsive host cannot delay the run's end.
 */
export async function runInSandbox(run: SandboxRun): Promise<RunOutcome> {
  const racing = new CancellationScope();
  const sandbox = racing.run(() => startAndFollow(run));
  const timeLimit = racing.run(() => reachTimeLimit(run.timeouts));
  try {
    const first = await Promise.race([sandbox, timeLimit, run.stopRequested]);
    return 'kind' in first ? first : await executeStop(first, sandbox, run);
  } finally {
    racing.cancel();
  }
}

async function startAndFollow(run: SandboxRun): Promise<RunOutcome> {
  const { host, ref, report } = run;
  const failure = await start(run);
  if (failure !== null) return failure;
  report({ phase: 'following the agent' });
  try {
    return { kind: 'sandbox-ended', end: await host.followRun(ref) };
  } catch (error) {
    return followFailed(error);
  }
}

/**
 * Null if the sandbox was started. A start that is no longer awaited has no effect after a move.
 */
async function start({ host, ref, hostLoss }: SandboxRun): Promise<RunOutcome | null> {
  const lost = condition(() => hostLoss.throughGeneration >= ref.generation);
  try {
    const started = await Promise.race([host.startSandbox(ref), lost]);
    if (started === undefined) return hostLeaves;
    if (started.outcome === 'superseded') return notStarted;
    return started.outcome === 'cancelled' ? endedBeforeStart : null;
  } catch (error) {
    return startFailed(error);
  }
}

async function reachTimeLimit(timeouts: RunTimeouts): Promise<StopRequest> {
  await sleep(timeouts.runMs, { summary: 'time limit of the run' });
  return { cause: 'timed_out', graceMs: timeouts.timeLimitGraceMs };
}

async function executeStop(
  stop: StopRequest,
  sandbox: Promise<RunOutcome>,
  run: SandboxRun,
): Promise<RunOutcome> {
  run.report({ phase: 'stopping' });
  await run.activities.recordCause({ runId: run.ref.runId, cause: stop.cause, detail: null });
  try {
    await run.host.stopSandbox({ ...run.ref, graceMs: stop.graceMs });
  } catch {
    return hostUnresponsive(stop);
  }
  return drainOutput(stop, sandbox, run.timeouts);
}

async function drainOutput(
  stop: StopRequest,
  sandbox: Promise<RunOutcome>,
  timeouts: RunTimeouts,
): Promise<RunOutcome> {
  const waiting = new CancellationScope();
  const timeout = waiting.run(async () => {
    await sleep(timeouts.outputDrainMs, { summary: 'wait for the last output' });
    return hostUnresponsive(stop);
  });
  const first = await Promise.race([sandbox, timeout]);
  waiting.cancel();
  return first;
}
