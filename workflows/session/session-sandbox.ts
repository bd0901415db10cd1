import { sandboxName } from '../../core/sandbox/sandbox-name.ts';
import type { SessionSlot } from '../../core/sessions/session-slot.ts';
import { hostLostError, isHostLost, startFailed } from '../run/run-outcomes.ts';
import { setSessionHost } from '../shared/search-attributes.ts';
import { waitForSlot } from '../shared/wait-for-slot.ts';
import { awaitInterruptible } from './interruptible-activity.ts';
import {
  type ActiveSandbox,
  activeSandbox,
  removeInBackground,
  type SessionContext,
  sandboxOn,
} from './session-context.ts';

/**
 * The active sandbox or a new one. Null if no slot is free, no message waits, or the start fails.
 */
export async function ensureSandbox(context: SessionContext): Promise<ActiveSandbox | null> {
  const active = activeSandbox(context);
  if (active !== null) return active;
  context.report({ phase: 'waiting for a slot' });
  const slot = await claimSlot(context);
  if (slot?.outcome !== 'assigned') return null;
  return startSandboxOn(context, slot);
}

/**
 * Null if no slot was assigned until the timeout, or after a stop request. At the timeout the
 * message that waited fails and the session continues: the next message claims again.
 */
async function claimSlot(context: SessionContext): Promise<SessionSlot | null> {
  const { runId, activities, state, inbox, slotSignals, timeouts } = context;
  const claim = async (): Promise<SessionSlot | null> => {
    const slot = await activities.claimSessionSlot({ runId, after: state.generation });
    return slot.outcome === 'no_capacity' ? null : slot;
  };
  const isStopped = (): boolean => inbox.stopRequest !== null;
  const wait = { signals: slotSignals, noCapacityMs: timeouts.noCapacityMs, isStopped };
  const slot = await waitForSlot(claim, wait).catch(() => null);
  // endRun keeps the recorded cause, not this one.
  if (slot?.outcome === 'ended') setEnd(context, 'terminated_by_operator', null);
  if (slot !== null || isStopped()) return slot;
  // Bump the generation so that a slot assigned late cannot match.
  state.generation += 1;
  const { more } = await activities.failTurn({ runId, generation: state.generation });
  inbox.hasPendingMessages ||= more;
  return null;
}

async function startSandboxOn(
  context: SessionContext,
  { hostId, generation }: { hostId: string; generation: number },
): Promise<ActiveSandbox | null> {
  const { runId, instance, state, inbox, report } = context;
  state.generation = generation;
  setSessionHost(hostId);
  const container = sandboxName({ runId, instance, generation });
  report({ phase: 'starting the sandbox', host: hostId, container });
  const sandbox = sandboxOn(context, { hostId, generation });
  const start = sandbox.host.startSandbox(sandbox.ref);
  const started = await awaitInterruptible(context, sandbox, start);
  if (started.kind === 'done' && started.value.outcome === 'started') {
    state.sandbox = { hostId, generation };
    return sandbox;
  }
  const error = started.kind === 'failed' ? started.error : null;
  if (error === hostLostError) {
    // The next claim chooses another host. Nothing was lost, so it does not count.
    inbox.hasPendingMessages = true;
    return null;
  }
  handleSandboxLoss(context, sandbox, error);
  if (error !== null && context.end !== null) context.end = startFailed(error).end;
  return null;
}

/**
 * The sandbox ended unasked. The session continues in another one until too many are lost in a row.
 */
export function handleSandboxLoss(
  context: SessionContext,
  sandbox: ActiveSandbox,
  error: unknown,
): void {
  const { state, timeouts, inbox } = context;
  state.sandbox = null;
  state.consecutiveLosses += 1;
  inbox.hasPendingMessages = true;
  if (!isHostLost(error)) removeInBackground(context, sandbox);
  if (state.consecutiveLosses < timeouts.maxConsecutiveLosses) return;
  setEnd(context, 'max_reconnects_exceeded', 'too many sandboxes were lost in a row');
}

export function setEnd(
  context: SessionContext,
  cause:
    | 'terminated_by_operator'
    | 'container_start_failed'
    | 'max_reconnects_exceeded'
    | 'timed_out',
  detail: string | null,
): void {
  context.end ??= { cause, detail, exitCode: null };
}

/** The host stores what the next sandbox needs and releases the slot unless a message waits. */
export async function stopSandbox(
  context: SessionContext,
  sandbox: ActiveSandbox,
  graceMs: number,
): Promise<void> {
  const { host, ref } = sandbox;
  await host.stopSandbox({ ...ref, graceMs }).catch(() => undefined);
  await followToEnd(context, sandbox);
}

/**
 * Like `stopSandbox`, but returns false if the host has begun a turn whose signal this workflow has
 * not received yet.
 */
export async function stopIdleSandbox(
  context: SessionContext,
  sandbox: ActiveSandbox,
): Promise<boolean> {
  const { host, ref } = sandbox;
  const graceMs = context.timeouts.timeLimitGraceMs;
  const stopped = await host.stopSandbox({ ...ref, graceMs, ifIdle: true }).catch(() => null);
  if (stopped?.outcome === 'busy') return false;
  await followToEnd(context, sandbox);
  return true;
}

async function followToEnd(context: SessionContext, { host, ref }: ActiveSandbox): Promise<void> {
  await host.followRun(ref).catch(() => undefined);
  context.state.sandbox = null;
  removeInBackground(context, { host, ref });
}
