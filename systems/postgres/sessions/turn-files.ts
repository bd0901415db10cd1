// Files that wait for a session's next turn: those sent with its message, and those added while no
// sandbox was up. They are pending until the holder of the lease reports that the sandbox has them.
// Files that were written after the last snapshot are written again in the next sandbox, so that a
// failing host loses none.

import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { type ScopedFile, scopedColumnsOf } from '../files/input-files.ts';
import { appendOwnFrames } from '../log/append-frames.ts';
import type { SandboxLease } from '../log/lease.ts';
import { type FailedTurn, failureFrames, markIdle, replyCounted } from './fail-turn.ts';

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

/** The files to write before the turn of this message starts. Safe to repeat. */
export async function findPendingFiles(
  db: Db,
  { runId, generation, token }: SandboxLease,
  messageId: string,
): Promise<InputFile[]> {
  const { rows } = await db.query<InputFile>(
    `with message_inputs as (
       update message_files m set generation = $3
       where m.message_id = $4 and m.generation is distinct from $3
         and exists (select from run_logs where run_id = $1 and lease_token = $2)
       returning m.*
     ),
     added as (
       insert into input_files (run_id, path, sha256, size, mode, scope, modified_at, is_pending)
       select $1, path, sha256, size, mode, scope, db_clock(), true from message_inputs order by path
       on conflict (run_id, path) do update
         set sha256 = excluded.sha256, size = excluded.size, mode = excluded.mode,
             scope = excluded.scope, modified_at = excluded.modified_at, is_pending = true
       returning path, sha256, size, mode
     )
     select path, encode(sha256, 'hex') as sha256, size, mode from (
       select * from added
       union all
       select g.path, g.sha256, g.size, g.mode from input_files g
       where g.run_id = $1 and g.is_pending and g.path not in (select path from added)
     ) waiting order by path`,
    [runId, token, generation, messageId],
  );
  return rows;
}

/**
 * Records that the sandbox has these files with this content; a file that was replaced since
 * remains pending. Returns how many are no longer pending, and 0 if the lease is lost.
 */
export async function markFilesWritten(
  db: Db,
  { runId, token }: SandboxLease,
  files: InputFile[],
): Promise<number> {
  const { rowCount } = await db.query(
    `with written as (
       select g.path
       from input_files g join unnest($3::text[], $4::text[]) f(path, sha256)
         on g.path = f.path and g.sha256 = decode(f.sha256, 'hex')
       where g.run_id = $1 and g.is_pending
         and exists (select from run_logs where run_id = $1 and lease_token = $2)
       order by g.path for no key update of g
     )
     update input_files g set is_pending = false, modified_at = db_clock()
     from written where g.run_id = $1 and g.path = written.path`,
    [runId, token, files.map(({ path }) => path), files.map(({ sha256 }) => sha256)],
  );
  return rowCount ?? 0;
}

/** Removes a pending file that cannot be written. Returns like `markFilesWritten`. */
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

/** Fails a message that is not delivered to the agent. Safe to repeat. */
export function rejectTurn(
  pool: Pool,
  { runId, token }: SandboxLease,
  { messageId, reason }: { messageId: string; reason: string },
): Promise<void> {
  return inTransaction(pool, async (db) => {
    const lock = 'select from run_logs where run_id = $1 and lease_token = $2 for update';
    if ((await db.query(lock, [runId, token])).rowCount !== 1) return;
    const { rows } = await db.query<FailedTurn>(
      `with failed as (
         update session_messages m set ended_at = db_clock(), exit_code = 1, reply = $2, error = $3
         from sessions s
         where m.id = $1 and m.ended_at is null and s.run_id = m.run_id
         returning m.id as "messageId", m.text, m.reply, m.run_id, s.session_id as "sessionId"
       ), ${replyCounted}
       select "messageId", text, "sessionId", true as "isLogged" from failed`,
      [messageId, reason, 'files_refused'],
    );
    if (!rows[0]) return;
    await appendOwnFrames(db, {
      runId,
      token,
      frames: failureFrames(rows[0], { error: 'files_refused', reason }),
      facts: { agentStatus: 'error' },
    });
    await markIdle(db, runId, { ...rows[0], error: 'files_refused', reason });
  });
}
