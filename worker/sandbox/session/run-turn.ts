// One message of a session, from its delivery to the sandbox to the `turn_end` in the log. A failed
// call is repeated. Then the claim returns the message that the sandbox already has, and the agent
// ignores a message whose UUID it has received before.

import type { SandboxTurn } from '../../../activities/sandbox.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { TurnError } from '../../../core/sessions/chat.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { settlesWithin } from '../../../lib/async/timeout.ts';
import type { SandboxLease } from '../../../systems/postgres/log/lease.ts';
import type { SandboxContext, SessionContext } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import { messageUuid } from '../input/input-queue.ts';
import type { SpoolTail } from '../output/spool-tail.ts';
import type { Ownership } from '../ownership.ts';
import { isKnownToRun } from '../stop/exit-watch.ts';
import type { GracefulStop } from '../stop/graceful-stop.ts';
import type { UnwritableFile } from '../workspace/write-files.ts';
import type { IdlePauser } from './idle-pauser.ts';
import type { SaveQueue } from './save-session.ts';
import { noTurn, type TurnStarter } from './turn-runner.ts';

/** Writes the input files of a message. Returns those that cannot be written. */
export type WritePendingFiles = (
  lease: SandboxLease,
  messageId: string,
) => Promise<UnwritableFile[]>;

/**
 * Writes the input files of the session's next message, then runs its turn to the end. Calls
 * `onLook` before each look for messages. `sandbox_ended`: another sandbox continues the session,
 * or this one ended before the turn.
 */
type RunTurn = (startedBy: TurnStarter, onLook: () => void) => Promise<SandboxTurn>;

interface SessionParts {
  context: SandboxContext;
  session: SessionContext;
  tail: SpoolTail;
  gracefulStop: GracefulStop;
  pauser: IdlePauser;
  saver: SaveQueue;
  ownership: Ownership;
  writePendingFiles: WritePendingFiles;
}

export function createRunTurn(deps: SandboxDeps, parts: SessionParts): RunTurn {
  const sent = new Set<string>();
  return (startedBy, onLook) => runTurn(deps, { ...parts, sent, startedBy, onLook });
}

interface TurnDeps extends SessionParts {
  /** Messages that this process has written to the agent's input. */
  sent: Set<string>;
  startedBy: TurnStarter;
  onLook(): void;
}

async function runTurn(deps: SandboxDeps, turn: TurnDeps): Promise<SandboxTurn> {
  const { context, session, saver, startedBy } = turn;
  const { runId, generation } = context.ref;
  const { token } = context.lease;
  const lease = { runId, generation, token };
  const claimed = await claimAndResume(deps, turn, lease);
  if (claimed.outcome !== 'turn') return claimed.outcome === 'none' ? noTurn : claimed;
  const { messageId, announcedFrame, waitedMs } = claimed;
  if (announcedFrame !== null) {
    void deps.frameStream.publish(runId, { frames: [announcedFrame], deltas: [] });
    context.logger.info({ generation, messageId, waitedMs, startedBy }, 'turn_started');
    if (waitedMs !== null) deps.onTurnStarted(waitedMs);
  }
  failpoint('turn.claimed');
  if (!(await filesReady(deps, turn, { lease, ...claimed }))) return turnResult(deps, turn);
  sendToAgent(turn, claimed);
  failpoint('turn.sent');
  const ending = new AbortController();
  const limited = enforceTurnLimits(deps, turn, { lease, ...claimed, signal: ending.signal });
  try {
    await Promise.race([session.turns.ended(), turn.ownership.released, limited]);
  } catch (error) {
    // After a release the turn continues, and the next attempt asks the process that adopts it.
    if (!turn.ownership.signal.aborted || turn.ownership.isReleased()) throw error;
    return { outcome: 'sandbox_ended' };
  } finally {
    ending.abort();
  }
  context.logger.info({ generation, messageId }, 'turn_ended');
  saver.scheduleSave();
  return turnResult(deps, turn);
}

/**
 * A hint unpauses the sandbox only after Postgres has confirmed the message and the lease. For an
 * activity, both happen concurrently.
 */
async function claimAndResume(
  deps: SandboxDeps,
  { pauser, startedBy, onLook }: TurnDeps,
  lease: SandboxLease,
) {
  onLook();
  const claiming = claimTurn(deps, lease);
  if (startedBy === 'hint') {
    const hinted = await claiming;
    if (hinted.outcome === 'turn') await pauser.resume();
    return hinted;
  }
  const [claimed] = await Promise.all([claiming, pauser.resume()]);
  if (claimed.outcome === 'none') pauser.markIdle();
  return claimed;
}

async function claimTurn({ turns }: Pick<SandboxDeps, 'turns'>, lease: SandboxLease) {
  const claimed = await turns.claim(lease);
  if (claimed.outcome !== 'turn') return claimed;
  return { ...claimed, startedAtMs: performance.now() - claimed.runsForMs };
}

async function turnResult(
  deps: SandboxDeps,
  { context, pauser, onLook }: Pick<TurnDeps, 'context' | 'pauser' | 'onLook'>,
): Promise<SandboxTurn> {
  onLook();
  const next = await deps.turns.findNext(context.ref.runId);
  if (!next.more) pauser.markIdle();
  return { outcome: 'done', ...next };
}

interface Claimed {
  lease: SandboxLease;
  messageId: string;
  isAccepted: boolean;
  filesMayWait: boolean;
}

/** False if its files cannot be written. Then the turn has ended without the agent. */
async function filesReady(
  deps: SandboxDeps,
  { context, sent, writePendingFiles }: TurnDeps,
  { lease, messageId, isAccepted, filesMayWait }: Claimed,
): Promise<boolean> {
  if (isAccepted || !filesMayWait || sent.has(messageId)) return true;
  const unwritable = await writePendingFiles(lease, messageId);
  if (unwritable.length === 0) return true;
  const reasons = unwritable.map(({ path, reason }) => `${path} cannot be written: ${reason}`);
  context.logger.warn({ messageId, files: unwritable.length }, 'turn_rejected');
  await deps.turns.rejectTurn(lease, { messageId, reason: reasons.join('; ') });
  await deps.frameStream.notify(lease.runId);
  return false;
}

function sendToAgent(
  { context, session, sent }: TurnDeps,
  { messageId, text, isAccepted }: { messageId: string; text: string; isAccepted: boolean },
): void {
  if (sent.has(messageId)) return;
  sent.add(messageId);
  context.socket.meter.beginTurn(messageId);
  const uuid = messageUuid(messageId, context.ref.generation);
  if (!session.turns.hasSeen(messageId)) {
    const turn = { messageId, uuid, isAccepted, error: null };
    session.reader.expect(turn);
    session.turns.start(turn);
  }
  // A message that the agent accepted under a previous process is in progress.
  if (!isAccepted) context.socket.input.sendMessage(uuid, text);
}

interface LimitedTurn {
  lease: SandboxLease;
  messageId: string;
  /** A time of `performance.now()`. */
  startedAtMs: number;
  signal: AbortSignal;
}

/**
 * Interrupts a turn that exceeds its time limit or stalls. The time before this process was
 * measured by Postgres, so the host's wall clock does not matter. If the interrupt has no effect,
 * the sandbox is stopped. Such a turn is not retried. Never resolves.
 */
async function enforceTurnLimits(
  deps: SandboxDeps,
  { context, session, tail, gracefulStop, ownership }: TurnDeps,
  { lease, messageId, startedAtMs, signal }: LimitedTurn,
): Promise<never> {
  const endsAtMs = startedAtMs + context.run.timeoutSeconds * 1_000;
  const from = performance.now();
  const exceeded = async (): Promise<TurnError | null> => {
    if (performance.now() >= endsAtMs) return 'timed_out';
    const isQuiet = quietForMs(tail, from) > deps.times.stallTimeoutMs;
    if (!isQuiet || context.turns.isWaiting()) return null;
    return (await isKnownToRun(context.exit)) ? 'stalled' : null;
  };
  let error = await exceeded();
  while (error === null && !signal.aborted) {
    await sleep(Math.min(checkEveryMaxMs, deps.times.stallTimeoutMs / 4), signal);
    error = await exceeded();
  }
  if (error !== null && !signal.aborted) {
    context.logger.warn({ messageId, error }, 'turn_interrupted_by_watchdog');
    await deps.turns.failCurrentTurn(lease, messageId, error);
    session.reader.markInterrupted(error);
    context.socket.input.interrupt(deps.newId());
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
