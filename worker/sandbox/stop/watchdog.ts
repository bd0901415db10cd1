import type { EndCause } from '../../../core/runs/end-cause.ts';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { ExceededLimit } from '../../metering/call-limits.ts';
import type { SandboxContext } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import type { TurnTracker } from '../input/turn-tracker.ts';
import type { SpoolFault, SpoolTail } from '../output/spool-tail.ts';
import type { Ownership } from '../ownership.ts';
import type { QuotaViolation } from '../workspace/quota-watchdog.ts';
import { type ExitWatch, isKnownToRun } from './exit-watch.ts';
import type { GracefulStop } from './graceful-stop.ts';

/** The reasons for which this host terminates a sandbox. */
type Violation =
  | SpoolFault
  | QuotaViolation
  | ExceededLimit
  | 'storage_quota_exceeded'
  | 'host_disk_full'
  | 'host_inodes_used_up'
  | 'stalled'
  | 'hung_after_result';

export interface Watchdog {
  /**
   * Records the cause before it stops the sandbox, so that the exit does not count as the cause.
   */
  terminateFor(violation: Violation): void;
  /** Resolves when the causes of all violations so far are recorded. */
  recorded(): Promise<unknown>;
}

export function createWatchdog(
  { runs }: Pick<SandboxDeps, 'runs'>,
  { ref, turns, logger }: SandboxContext,
  { gracefulStop, ownership }: { gracefulStop: GracefulStop; ownership: Ownership },
): Watchdog {
  let recording: Promise<unknown> = Promise.resolve();
  return {
    terminateFor(violation) {
      const { cause, detail } = endReasonFor(violation, turns.last());
      logger.warn({ cause, detail }, 'watchdog_violation');
      const record = () => runs.recordCause({ ...ref, cause, detail });
      const recorded = recording.then(() => retryUntilAborted(record, ownership.retry));
      // After a release, this process must not stop it.
      recording = recorded.catch(() => undefined);
      void recorded
        .then(() => retryUntilAborted(() => gracefulStop.stop(0), ownership.retry))
        .catch(() => undefined);
    },
    recorded: () => recording,
  };
}

interface EndReason {
  cause: EndCause;
  detail: string;
}

function endReasonFor(violation: Violation, turn: ReturnType<TurnTracker['last']>): EndReason {
  switch (violation) {
    case 'spool_truncated':
      return { cause: 'output_tampered', detail: 'the output was truncated' };
    case 'spool_replaced':
      return { cause: 'output_tampered', detail: 'the output was replaced' };
    case 'spool_too_large':
      return { cause: 'disk_full', detail: 'the output is over its limit' };
    case 'workspace_too_large':
      return { cause: 'disk_full', detail: 'the working directory is over its limit' };
    case 'workspace_too_many_files':
      return { cause: 'disk_full', detail: 'the working directory holds too many files' };
    case 'storage_quota_exceeded':
      return { cause: 'disk_full', detail: "the project's storage quota is used up" };
    case 'host_disk_full':
      return {
        cause: 'disk_full',
        detail: 'the disk of the host was almost full, and this sandbox had written most',
      };
    case 'host_inodes_used_up':
      return {
        cause: 'disk_full',
        detail: 'the disk of the host was almost full, and this sandbox had created most files',
      };
    case 'spool_unreadable':
      return { cause: 'max_reconnects_exceeded', detail: 'the output cannot be read' };
    case 'budget_exceeded':
      return {
        cause: 'budget_exceeded',
        detail: 'a model call could exceed the budget',
      };
    case 'monthly_budget_reached':
      return { cause: 'budget_exceeded', detail: "the project's monthly budget is reached" };
    case 'monthly_flow_budget_reached':
      return { cause: 'budget_exceeded', detail: "the flow's monthly budget is reached" };
    case 'monthly_key_budget_reached':
      return { cause: 'budget_exceeded', detail: "the key's monthly budget is reached" };
    case 'tree_budget_reached':
      return { cause: 'budget_exceeded', detail: 'the budget of the run tree is reached' };
    case 'too_many_calls':
      return { cause: 'max_turns_exceeded', detail: 'the agent made too many model calls' };
    case 'stalled':
      return { cause: 'stalled', detail: 'the agent wrote no output for too long' };
    case 'hung_after_result':
      return endReasonForHanging(turn);
  }
}

/** The agent's own result takes precedence over the fact that it did not exit. */
function endReasonForHanging(turn: ReturnType<TurnTracker['last']>): EndReason {
  const detail = 'the agent was done and did not exit';
  return { cause: turn === null ? 'no_result' : (turn.cause ?? 'hung_after_result'), detail };
}

const checkEveryMaxMs = 5_000;

/**
 * Calls once if an agent in a turn writes nothing for too long. An agent that waits for an answer
 * may write nothing. Output that is not in the log yet counts as output, and an agent that has
 * exited has not stalled.
 */
export async function watchForStall(
  { tail, turns, exit }: { tail: SpoolTail; turns: TurnTracker; exit: ExitWatch },
  { stallTimeoutMs, signal }: { stallTimeoutMs: number; signal: AbortSignal },
  onStall: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(Math.min(checkEveryMaxMs, stallTimeoutMs / 4), signal);
    if (signal.aborted) return;
    const since = tail.quietSince();
    const isSilent = since !== null && performance.now() - since > stallTimeoutMs;
    const isDue = !turns.isDone() || turns.isWorking();
    if (!isSilent || !isDue || turns.isWaiting()) continue;
    if (await isKnownToRun(exit)) return onStall();
  }
}
