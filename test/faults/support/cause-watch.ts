import type { EndCause } from '../../../core/runs/end-cause.ts';
import type { Pool } from '../../../systems/postgres/client/pool.ts';

/** From now on a trigger in the database records every cause that is set on a run, in order. */
export async function watchCauses(pool: Pool): Promise<void> {
  await pool.query(`
    create table seen_causes (n bigserial, run_id uuid, cause text);
    create function see_cause() returns trigger language plpgsql as $$
    begin
      insert into seen_causes (run_id, cause) values (new.id, new.end_cause);
      return null;
    end $$;
    create trigger see_cause after insert or update on runs for each row
      when (new.end_cause is not null) execute function see_cause();`);
}

/** Setting the same cause again does not count. */
export async function causesOf(pool: Pool, runId: string): Promise<EndCause[]> {
  const { rows } = await pool.query<{ cause: EndCause }>(
    `select cause from (
       select n, cause, lag(cause) over (order by n) as before from seen_causes where run_id = $1
     ) seen where cause is distinct from before order by n`,
    [runId],
  );
  return rows.map(({ cause }) => cause);
}
