// One message of a session, from the moment its sandbox is given it to the `turn_end` in the log. Who
// waits here may die and ask again: the message that the sandbox has is then found, not given twice,
// and the agent itself knows the uuid of what it has been given before.

import { failpoint } from '../../../core/failpoint.ts';
import type { TurnError } from '../../../core/sessions/chat.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { settlesWithin } from '../../../lib/async/timeout.ts';
import type { SandboxLease } from '../../../systems/postgres/log/lease.ts';
import type { TurnOutcome } from '../../../workflows/shared/activities.ts';
import type { SandboxContext } from '../context.ts';
import type { SupervisorDeps } from '../deps.ts';
import { interruptLine, messageLine, messageUuid } from '../input/agent-input.ts';
import type { SpoolTail } from '../output/spool-tail.ts';
import type { Ownership } from '../ownership.ts';
import type { GracefulStop } from '../stop/graceful-stop.ts';
import type { SandboxFiles } from '../workspace/sandbox-files.ts';
import type { IdlePauser } from './idle-pauser.ts';
import type { SaveQueue } from './save-session.ts';
import type { SessionContext } from './session-part.ts';

export interface TurnDeps {
  context: SandboxContext;
  session: SessionContext;
  tail: SpoolTail;
  gracefulStop: GracefulStop;
  pauser: IdlePauser;
  saver: SaveQueue;
  ownership: Ownership;
  /** Messages that this process has written into the agent's input. */
  given: Set<string>;
  writePendingFiles: SandboxFiles['writePendingFiles'];
}

/** `over`: it is another sandbox that goes on with the session, or this one did not live to the end. */
export async function runTurn(deps: SupervisorDeps, place: TurnDeps): Promise<TurnOutcome> {
  const { context, session, pauser, saver } = place;
  const { runId, generation } = context.ref;
  const { token } = context.lease;
  const held = { runId, generation, token };
  const [claimed] = await Promise.all([deps.turns.claim(held), pauser.resume()]);
  if (claimed.outcome !== 'turn') {
    if (claimed.outcome === 'none') pauser.markIdle();
    return claimed.outcome === 'none' ? { outcome: 'done', more: false } : claimed;
  }
  const { messageId, announcedFrame, waitedMs } = claimed;
  if (announcedFrame !== null) {
    void deps.frameStream.publish(runId, { frames: [announcedFrame], deltas: [] });
    context.logger.info({ generation, messageId, waitedMs }, 'turn_started');
  }
  failpoint('turn.claimed');
  if (!(await filesReady(deps, place, { held, ...claimed }))) return turnResult(deps, place);
  sendToAgent(place, claimed);
  failpoint('turn.sent');
  const ending = new AbortController();
  const watched = enforceTurnLimits(deps, place, { held, ...claimed, signal: ending.signal });
  try {
    await Promise.race([session.turns.ended(), place.ownership.released, watched]);
  } catch (error) {
    // Let go of, it goes on; whoever takes it up is asked next.
    if (!place.ownership.signal.aborted || place.ownership.isReleased()) throw error;
    return { outcome: 'sandbox_ended' };
  } finally {
    ending.abort();
  }
  context.logger.info({ generation, messageId }, 'turn_ended');
  saver.saveSoon();
  return turnResult(deps, place);
}

async function turnResult(
  deps: SupervisorDeps,
  { context, pauser }: Pick<TurnDeps, 'context' | 'pauser'>,
): Promise<TurnOutcome> {
  const more = await deps.turns.hasWork(context.ref.runId);
  if (!more) pauser.markIdle();
  return { outcome: 'done', more };
}

interface Claimed {
  held: SandboxLease;
  messageId: string;
  isAccepted: boolean;
  filesMayWait: boolean;
}

/** False where its files cannot be in place: its turn has ended without its agent. */
async function filesReady(
  deps: SupervisorDeps,
  { context, given, writePendingFiles }: TurnDeps,
  { held, messageId, isAccepted, filesMayWait }: Claimed,
): Promise<boolean> {
  if (isAccepted || !filesMayWait || given.has(messageId)) return true;
  const misplaced = await writePendingFiles(held, messageId);
  if (misplaced.length === 0) return true;
  const faults = misplaced.map(({ path, reason }) => `${path} cannot be written: ${reason}`);
  context.logger.warn({ messageId, files: misplaced.length }, 'turn_rejected');
  await deps.turns.rejectTurn(held, { messageId, reason: faults.join('; ') });
  await deps.frameStream.notify(held.runId);
  return false;
}

function sendToAgent(
  { context, session, given }: TurnDeps,
  { messageId, text, isAccepted }: { messageId: string; text: string; isAccepted: boolean },
): void {
  if (given.has(messageId)) return;
  given.add(messageId);
  const uuid = messageUuid(messageId, context.ref.generation);
  if (!session.turns.hasSeen(messageId)) {
    const turn = { messageId, uuid, isAccepted, error: null };
    session.reader.expect(turn);
    session.turns.start(turn);
  }
  // One that was isAccepted from an earlier life of this process is under way.
  if (!isAccepted) context.served.input.push(messageLine(uuid, text));
}

interface Watched {
  held: SandboxLease;
  messageId: string;
  startedAt: Date;
  signal: AbortSignal;
}

/**
 * A turn has its time, and its agent is not silent for too long; else it is interrupted, and where
 * that ends nothing, its sandbox is. Such a turn is not tried again. Never resolves.
 */
async function enforceTurnLimits(
  deps: SupervisorDeps,
  { context, session, tail, gracefulStop, ownership }: TurnDeps,
  { held, messageId, startedAt, signal }: Watched,
): Promise<never> {
  const endsAt = startedAt.getTime() + context.run.timeoutSeconds * 1_000;
  const from = performance.now();
  const due = (): TurnError | null => {
    if (deps.now().getTime() >= endsAt) return 'timed_out';
    const mayBeSilent = context.turns.isWaiting();
    return !mayBeSilent && quietForMs(tail, from) > deps.times.stallTimeoutMs ? 'stalled' : null;
  };
  let error = due();
  while (error === null && !signal.aborted) {
    await sleep(Math.min(checkEveryMaxMs, deps.times.stallTimeoutMs / 4), signal);
    error = due();
  }
  if (error !== null && !signal.aborted) {
    context.logger.warn({ messageId, error }, 'turn_interrupted_by_watchdog');
    await deps.turns.failCurrentTurn(held, messageId, error);
    session.reader.markInterrupted(error);
    context.served.input.push(interruptLine(deps.newId()));
    const ended = Promise.race([session.turns.ended(), ownership.released]);
    if (!(await settlesWithin(interruptGraceMs, ended))) await gracefulStop.stop(0);
  }
  return new Promise<never>(() => undefined);
}

const checkEveryMaxMs = 1_000;
const interruptGraceMs = 10_000;

function quietForMs(tail: SpoolTail, from: number): number {
  const since = tail.quietSince();
  return since === null ? 0 : performance.now() - Math.max(since, from);
}
