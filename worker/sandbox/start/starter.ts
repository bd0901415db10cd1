// Starts the sandboxes of a host. The activity of a run's workflow starts each of them, unless a
// hint has started it before: a notification that the first sandbox of a run, or the next one of a
// sleeping session, was placed on this host. Both use the same claim: Postgres checks the lease,
// the generation and the run's end cause. So a hint that is lost, late or duplicated changes
// nothing, and the activity finds the sandbox.

import { parseStartSubject, startChannel } from '../../../core/hosts/host-rpc.ts';
import type { KeyedMutex } from '../../../lib/async/keyed-mutex.ts';
import type { SandboxRef, StartOutcome } from '../../../workflows/shared/activities.ts';
import type { PreparedSandbox } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxRegistry } from '../registry.ts';
import { removeEarlierSandboxes } from '../stop/remove-sandbox.ts';
import type { SupervisedSandbox } from '../supervised-sandbox.ts';
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

  async function onHint(subject: string): Promise<void> {
    const ref = parseStartSubject(subject);
    if (ref === null) return;
    try {
      await startByHint(state, ref);
    } catch (err) {
      if (state.closing.aborted) return;
      logger.warn({ err, ...(await runLogContext(ref.runId)) }, 'start_hint_failed');
    }
  }

  return {
    start: (ref) =>
      mutex.runExclusive(ref.runId, async () =>
        sandboxes.find(ref) === null ? start(state, ref) : 'started',
      ),
    close: notifications.subscribeBestEffort(
      startChannel(hostId),
      (subject) => void onHint(subject),
    ),
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
 * Starts the sandbox unless this process works on the run or supervises a sandbox of it. All other
 * cases, failures included, are left to the activity.
 */
async function startByHint(
  { deps, sandboxes, mutex, supervise }: StarterState,
  ref: SandboxRef,
): Promise<void> {
  const { runId } = ref;
  const mayStart = (): boolean =>
    deps.mayActOnHints() && mayFollow(sandboxes.findByRun(runId), ref);
  if (!mayStart() || mutex.isBusy(runId)) return;
  await mutex.runExclusive(runId, async () => {
    const from = performance.now();
    if (!(await isPlaced(deps, ref)) || !mayStart()) return;
    await sandboxes.detach(runId);
    await removeEarlierSandboxes(deps, ref);
    const started = await startSandbox(deps, ref, 'hint');
    if (started.outcome !== 'started') return;
    supervise(started.sandbox);
    deps.onSandboxStart('started', performance.now() - from);
  });
}

/** A session's sandbox may follow one that has ended and is not removed yet. */
const mayFollow = (last: SupervisedSandbox | null, { generation }: SandboxRef): boolean =>
  last === null || (!last.isLive() && last.ref.generation < generation);

/** Before anything of an earlier sandbox is removed, because a hint may be wrong. */
async function isPlaced(
  { runs, hostId }: Pick<SandboxDeps, 'runs' | 'hostId'>,
  { runId, generation }: SandboxRef,
): Promise<boolean> {
  if (generation === 1) return true;
  const run = await runs.find(runId);
  return run !== null && run.generation === generation && run.hostId === hostId;
}
