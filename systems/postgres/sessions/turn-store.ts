import type { StoredFrame } from '../../../core/frames/frame.ts';
import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import type { PendingTurn, TurnError, UndeliveredMessage } from '../../../core/sessions/chat.ts';
import type { SessionSlotClaim } from '../../../core/sessions/session-slot.ts';
import type { Db, Pool } from '../client/pool.ts';
import { leaseIsCurrent } from '../log/fencing.ts';
import type { SandboxGeneration, SandboxLease } from '../log/lease.ts';
import { failTurn } from './fail-turn.ts';
import { findIdleState } from './idle-state.ts';
import { markStarted } from './mark-started.ts';
import { type SessionState, saveState } from './save-state.ts';
import { beginSave, listTranscript } from './transcript.ts';
import { discardFile, findPendingFiles, markFilesWritten, rejectTurn } from './turn-files.ts';

type ClaimedTurn =
  | {
      outcome: 'turn';
      messageId: string;
      text: string;
      isAccepted: boolean;
      /** Since the start of the turn, by Postgres's clock. */
      runsForMs: number;
      /** From storing the message to the first start of the turn; null for a further attempt. */
      waitedMs: number | null;
      /** Whether files may be pending for this turn; false if there were none at the claim. */
      filesMayWait: boolean;
      /** The frame that announces this attempt to readers; null if it was announced before. */
      announcedFrame: StoredFrame | null;
    }
  | { outcome: 'none' }
  /** The session's configuration has changed since the sandbox started. */
  | { outcome: 'reconfigure' }
  /** Another sandbox continues the session, or the session has ended. */
  | { outcome: 'sandbox_ended' };

export type TurnStore = ReturnType<typeof createTurnStore>;

/** The life cycle of a session's sandboxes, and their turns. */
export function createTurnStore(pool: Pool, hostStaleMs: number = limits.host.staleMs) {
  return {
    /** `hasWaiting`: whether any run may wait for the slot that this has released. */
    claimSlot: (runId: string, afterGeneration: number) =>
      claimSlot(pool, { runId, afterGeneration, hostStaleMs }),
    /** The frames that announce the start; null if it was announced before. */
    markStarted: (lease: SandboxLease) => markStarted(pool, lease),
    claim: (lease: SandboxLease) => claimTurn(pool, lease),
    /** Fails the oldest message, because no sandbox of this generation could be started for it. */
    failTurn: (of: SandboxGeneration, why: UndeliveredMessage) => failTurn(pool, of, why),
    pendingFiles: (lease: SandboxLease, messageId: string) =>
      findPendingFiles(pool, lease, messageId),
    markFilesWritten: (lease: SandboxLease, files: InputFile[]) =>
      markFilesWritten(pool, lease, files),
    discardFile: (lease: SandboxLease, file: InputFile) => discardFile(pool, lease, file),
    rejectTurn: (lease: SandboxLease, turn: { messageId: string; reason: string }) =>
      rejectTurn(pool, lease, turn),
    /** The message that the sandbox received and has not finished. */
    currentTurn: (runId: string, generation: number) => findCurrentTurn(pool, runId, generation),
    /** The message is not delivered to another sandbox. */
    failCurrentTurn: (lease: SandboxLease, messageId: string, error: TurnError) =>
      failCurrentTurn(pool, lease, { messageId, error }),
    /**
     * Records that the sandbox has ended and its files are stored; false if a later sandbox exists.
     * `error` is the reason for messages that are not delivered again.
     */
    releaseSandbox: (runId: string, generation: number, error: string | null = null) =>
      releaseSandbox(pool, { runId, generation }, error),
    hasWork: async (runId: string) => (await findNext(pool, runId)).more,
    /** What follows a turn of the session. */
    findNext: (runId: string) => findNext(pool, runId),
    idleState: (runId: string) => findIdleState(pool, runId),
    /** When a save begins, and the transcript that it may append to. */
    beginSave: (runId: string) => beginSave(pool, runId),
    /**
     * Stores what the session's next sandbox starts with; null if this is not its last sandbox.
     */
    saveState: (of: SandboxLease, state: SessionState) => saveState(pool, of, state),
    listTranscript: (runId: string) => listTranscript(pool, runId),
  };
}

async function claimSlot(
  db: Db,
  {
    runId,
    afterGeneration,
    hostStaleMs,
  }: { runId: string; afterGeneration: number; hostStaleMs: number },
): Promise<SessionSlotClaim & { hasWaiting: boolean }> {
  const { rows } = await db.query<SessionSlotClaim & { hasWaiting: boolean }>(
    `select outcome, host_id as "hostId", generation, has_waiting() as "hasWaiting"
     from claim_session_slot($1, $2, $3)`,
    [runId, afterGeneration, `${hostStaleMs} ms`],
  );
  if (!rows[0]) throw new Error('claim_session_slot returned no row');
  return rows[0];
}

interface ClaimRow {
  outcome: ClaimedTurn['outcome'];
  message_id: string;
  message: string;
  accepted: boolean;
  runs_for_ms: number;
  waited_ms: number | null;
  files_may_wait: boolean;
  seq: number | null;
  at: Date;
  data: string;
}

/**
 * Throws if the lease is lost. `claim_turn` has a later snapshot than the statement around it, so
 * the message may be missing in `session_messages`; then files may be pending.
 */
async function claimTurn(db: Db, { runId, generation, token }: SandboxLease): Promise<ClaimedTurn> {
  const text = `
    select t.outcome, t.message_id, t.message, t.is_accepted as accepted, t.seq, t.at, t.data,
      (extract(epoch from db_clock() - t.started_at) * 1000)::double precision as runs_for_ms,
      case when m.delivery_attempts = 0
        then (extract(epoch from t.started_at - m.created_at) * 1000)::double precision
      end as waited_ms,
      m.id is null
      or exists (select from message_files f where f.message_id = m.id)
      or exists (select from input_files g where g.run_id = l.run_id and g.is_pending) as files_may_wait
    from run_logs l
    cross join lateral claim_turn(l.run_id, $2, l.lease_token, $4) t
    left join session_messages m on m.id = t.message_id
    where l.run_id = $1 and l.lease_token = $3`;
  const values = [runId, generation, token, limits.session.turnTriesMax];
  const row = (await db.query<ClaimRow>({ name: 'claim_turn', text, values })).rows[0];
  if (!row) throw new Error('the lease of the log is lost');
  if (row.outcome !== 'turn') return { outcome: row.outcome };
  const { seq, at, data } = row;
  return {
    outcome: 'turn',
    messageId: row.message_id,
    text: row.message,
    isAccepted: row.accepted,
    runsForMs: row.runs_for_ms,
    waitedMs: row.waited_ms,
    filesMayWait: row.files_may_wait,
    announcedFrame: seq === null ? null : { seq, at, data, event: 'user_message', channel: 'chat' },
  };
}

async function findCurrentTurn(
  db: Db,
  runId: string,
  generation: number,
): Promise<Omit<PendingTurn, 'uuid'> | null> {
  const { rows } = await db.query<Omit<PendingTurn, 'uuid'>>(
    `select id as "messageId", is_accepted as "isAccepted", error from session_messages
     where run_id = $1 and generation = $2 and ended_at is null order by position limit 1`,
    [runId, generation],
  );
  return rows[0] ?? null;
}

/** Has no effect if another sandbox has received the message since. */
async function failCurrentTurn(
  db: Db,
  { runId, generation, token }: SandboxLease,
  { messageId, error }: { messageId: string; error: TurnError },
): Promise<void> {
  const text = `
    update session_messages m set delivery_attempts = $4, error = coalesce(m.error, $6)
    where m.id = $1 and m.run_id = $2 and m.generation = $3 and ${leaseIsCurrent('m.run_id', '$5')}`;
  await db.query(text, [messageId, runId, generation, limits.session.turnTriesMax, token, error]);
}

async function releaseSandbox(
  db: Db,
  { runId, generation }: SandboxGeneration,
  error: string | null,
): Promise<boolean> {
  const text = 'select release_session_sandbox($1, $2, $3, $4) as gone';
  const { rows } = await db.query<{ gone: boolean }>(text, [
    runId,
    generation,
    limits.session.turnTriesMax,
    error,
  ]);
  return rows[0]?.gone ?? false;
}

interface AfterTurn {
  /** The session has another message. */
  more: boolean;
  /** Any run may wait for the slot of an idle session. */
  hasWaiting: boolean;
}

async function findNext(db: Db, runId: string): Promise<AfterTurn> {
  const text = 'select session_has_work($1) as more, has_waiting() as "hasWaiting"';
  const { rows } = await db.query<AfterTurn>({ name: 'has_work', text, values: [runId] });
  return rows[0] ?? { more: false, hasWaiting: false };
}
