// Starts the sandboxes of a host. The activity of a run's workflow starts each of them. A hint, the
// notification of a run that was placed on this host, may have started it before. Both use the same
// claim: Postgres checks the lease, the generation and the run's end cause. So a hint that is lost,
// late or duplicated changes nothing, and the activity finds the sandbox.

import { startChannel } from '../../../core/hosts/host-rpc.ts';
import type { KeyedMutex } from '../../../lib/async/keyed-mutex.ts';
import type { SandboxRef, StartOutcome } from '../../../workflows/shared/activities.ts';
import type { PreparedSandbox } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxRegistry } from '../registry.ts';
import { removeEarlierSandboxes } from '../stop/remove-sandbox.ts';
import { adoptSandbox } from './adopt-sandbox.ts';
import { startErrorOf } from './start-error.ts';
import { startSandbox } from './start-sandbox.ts';

interface Starter {
  /** Throws SandboxStartError. */
  start(ref: SandboxRef): Promise<StartOutcome>;
  /** Ignores further hints. */
  close(): void;
}

interface StarterState {
  deps: SandboxDeps;
  sandboxes: SandboxRegistry;
  mutex: KeyedMutex;
  /** Aborted at shutdown. */
  closing: AbortSignal;
  supervise(sandbox: PreparedSandbox): void;
}

export function createStarter(state: StarterState): Starter {
  const { deps, mutex, sandboxes } = state;
  const { notifications, hostId, logger, runLogContext } = deps;

  async function onHint(runId: string): Promise<void> {
    try {
      await startByHint(state, runId);
    } catch (err) {
      if (state.closing.aborted) return;
      logger.warn({ err, ...(await runLogContext(runId)) }, 'start_hint_failed');
    }
  }

  return {
    start: (ref) =>
      mutex.runExclusive(ref.runId, async () =>
        sandboxes.find(ref) === null ? start(state, ref) : 'started',
      ),
    close: notifications.subscribeBestEffort(startChannel(hostId), (runId) => void onHint(runId)),
  };
}

async function start(state: StarterState, ref: SandboxRef): Promise<StartOutcome> {
  const { deps, sandboxes, closing, supervise } = state;
  const from = performance.now();
  let outcome: StartOutcome | 'failed' = 'failed';
  try {
    closing.throwIfAborted();
    await sandboxes.detach(ref.runId);
    await removeEarlierSandboxes(deps, ref);
    const prepared = await startOrAdopt(deps, ref);
    if (typeof prepared !== 'string') supervise(prepared);
    outcome = typeof prepared === 'string' ? prepared : 'started';
    return outcome;
  } catch (error) {
    throw startErrorOf(error);
  } finally {
    deps.onSandboxStart(outcome, performance.now() - from);
  }
}

async function startOrAdopt(
  deps: SandboxDeps,
  ref: SandboxRef,
): Promise<PreparedSandbox | Exclude<StartOutcome, 'started'>> {
  const started = await startSandbox(deps, ref);
  if (started.outcome === 'superseded') return 'superseded';
  if (started.outcome === 'already_ended') return 'cancelled';
  const adopted = started.outcome === 'already_started' ? await adoptSandbox(deps, ref) : started;
  return adopted.outcome === 'ended' ? 'cancelled' : adopted.sandbox;
}

/**
 * Starts the first sandbox of a run unless this process works on the run or supervises it. All
 * other cases, failures included, are left to the activity.
 */
async function startByHint(
  { deps, sandboxes, mutex, supervise }: StarterState,
  runId: string,
): Promise<void> {
  if (!deps.mayActOnHints() || mutex.isBusy(runId) || sandboxes.findByRun(runId) !== null) return;
  await mutex.runExclusive(runId, async () => {
    const from = performance.now();
    const started = await startSandbox(deps, { runId, generation: 1 }, 'hint');
    if (started.outcome !== 'started') return;
    supervise(started.sandbox);
    deps.onSandboxStart('started', performance.now() - from);
  });
}
