/**
 * SQL for a session `s`: its agent has finished a turn after the last save began. Turns that the
 * service failed do not count: clients know that they have no result, and a sandbox that ends is
 * saved before they fail.
 */
export const hasUnsavedTurn = `
  coalesce((
    select m.ended_at > coalesce(s.snapshot_at, '-infinity') from session_messages m
    where m.run_id = s.run_id and m.ended_at is not null and m.is_accepted
      and (m.error is null or m.exit_code = 0)
    order by m.position desc limit 1
  ), false)`;

/** SQL for a session `s`: the last message whose turn is part of the saved state. */
export const lastSavedMessage = `(
    select m.id from session_messages m
    where m.run_id = s.run_id and m.ended_at <= s.snapshot_at and m.is_accepted
    order by m.position desc limit 1
  )`;
