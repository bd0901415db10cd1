// Files that wait for a session's next turn: those that came with its message, and those that were
// given while no sandbox was up. They are pending until the sandbox has them, and only its lease's
// holder says that it has. What was put in place after the working directory was last stored is put
// in place again in the next sandbox, so that a host that dies loses none.

import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { type ScopedFile, scopedColumnsOf } from '../files/input-files.ts';
import { appendOwnFrames } from '../log/append-frames.ts';
import type { SandboxLease } from '../log/lease.ts';
import { type FailedTurn, failureFrames } from './fail-turn.ts';

export async function storeMessageFiles(
  db: Db,
  messageId: string,
  files: ScopedFile[],
): Promise<void> {
  await db.query(
    `insert into message_files (message_id, path, sha256, size, mode, scope)
     select $1, f.path, decode(f.sha256, 'hex'), f.size, f.mode, f.scope
     from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[])
       f(path, sha256, size, mode, scope)`,
    [messageId, ...scopedColumnsOf(files)],
  );
}

/** All that is to be in place before this message's turn begins. Safe to repeat. */
export async function findPendingFiles(
  db: Db,
  { runId, generation, token }: SandboxLease,
  messageId: string,
): Promise<InputFile[]> {
  const { rows } = await db.query<InputFile>(
    `with brought as (
       update message_files m set generation = $3
       where m.message_id = $4 and m.generation is distinct from $3
         and exists (select from run_logs where run_id = $1 and lease_token = $2)
       returning m.*
     ),
     laid as (
       insert into input_files (run_id, path, sha256, size, mode, scope, modified_at, is_pending)
       select $1, path, sha256, size, mode, scope, db_clock(), true from brought order by path
       on conflict (run_id, path) do update
         set sha256 = excluded.sha256, size = excluded.size, mode = excluded.mode,
             scope = excluded.scope, modified_at = excluded.modified_at, is_pending = true
       returning path, sha256, size, mode
     )
     select path, encode(sha256, 'hex') as sha256, size, mode from (
       select * from laid
       union all
       select g.path, g.sha256, g.size, g.mode from input_files g
       where g.run_id = $1 and g.is_pending and g.path not in (select path from laid)
     ) waiting order by path`,
    [runId, token, generation, messageId],
  );
  return rows;
}

/**
 * The sandbox has them, as they were read: what has taken the place of one since goes on waiting.
 * Returns how many wait no longer; none where the lease is lost.
 */
export async function markFilesWritten(
  db: Db,
  { runId, token }: SandboxLease,
  files: InputFile[],
): Promise<number> {
  const { rowCount } = await db.query(
    `with settled as (
       select g.path
       from input_files g join unnest($3::text[], $4::text[]) f(path, sha256)
         on g.path = f.path and g.sha256 = decode(f.sha256, 'hex')
       where g.run_id = $1 and g.is_pending
         and exists (select from run_logs where run_id = $1 and lease_token = $2)
       order by g.path for no key update of g
     )
     update input_files g set is_pending = false, modified_at = db_clock()
     from settled where g.run_id = $1 and g.path = settled.path`,
    [runId, token, files.map(({ path }) => path), files.map(({ sha256 }) => sha256)],
  );
  return rowCount ?? 0;
}

/** It can never be put in its place. Returns like the one above. */
export async function discardFile(
  db: Db,
  { runId, token }: SandboxLease,
  { path, sha256 }: InputFile,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from input_files g
     where g.run_id = $1 and g.path = $3 and g.sha256 = decode($4, 'hex') and g.is_pending
       and exists (select from run_logs where run_id = $1 and lease_token = $2)`,
    [runId, token, path, sha256],
  );
  return rowCount ?? 0;
}

/** Ends the turn of a message that the agent is not given, and says why. Safe to repeat. */
export function rejectTurn(
  pool: Pool,
  { runId, token }: SandboxLease,
  { messageId, reason }: { messageId: string; reason: string },
): Promise<void> {
  return inTransaction(pool, async (db) => {
    const lock = 'select from run_logs where run_id = $1 and lease_token = $2 for update';
    if ((await db.query(lock, [runId, token])).rowCount !== 1) return;
    const { rows } = await db.query<FailedTurn>(
      `update session_messages m set ended_at = db_clock(), exit_code = 1, reply = $2, error = $3
       from sessions s
       where m.id = $1 and m.ended_at is null and s.run_id = m.run_id
       returning m.id as "messageId", m.text, s.session_id as "sessionId", true as "isLogged"`,
      [messageId, reason, 'files_refused'],
    );
    if (!rows[0]) return;
    await appendOwnFrames(db, {
      runId,
      token,
      frames: failureFrames(rows[0], { error: 'files_refused', reason }),
      facts: { agentStatus: 'error' },
    });
    await db.query('update sessions set idle_since = db_clock() where run_id = $1', [runId]);
  });
}
