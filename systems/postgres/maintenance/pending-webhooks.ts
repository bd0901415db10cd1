import { limits } from '../../../core/limits.ts';
import type { RunOutline } from '../../../core/runs/run.ts';
import type { Db } from '../client/pool.ts';
import { outlineColumns, type RunOutlineRow, toOutline } from '../runs/run-row.ts';

const { webhooksPerPass } = limits.reconciler;

export interface PendingWebhook extends RunOutline {
  /**
   * The number of the redelivery that an operator requested; null: the delivery at the run's end.
   */
  redelivery: number | null;
  /** No attempt is in progress, and the delay after the last one has passed. */
  isDue: boolean;
}

/** Where the next page begins. */
export interface WebhookCursor {
  /** The page has the projects after this one. */
  afterProject: string;
  /** Of a project, the webhooks after this one come first. */
  last: { projectId: string; runId: string; endedAt: Date }[];
}

/**
 * A page of webhooks that were neither delivered nor dropped, in turn between the projects, so that
 * the webhooks of one project delay those of no other. Reads no more of them than the page has.
 * Redeliveries that were not started come first.
 */
export async function pendingWebhooks(
  db: Db,
  olderThanMs: number,
  { afterProject, last }: WebhookCursor = { afterProject: '', last: [] },
): Promise<PendingWebhook[]> {
  const { rows } = await db.query<RunOutlineRow & { redelivery: number | null; is_due: boolean }>(
    query,
    [
      olderThanMs,
      limits.webhook.delaysMs,
      afterProject,
      last.map(({ projectId }) => projectId),
      last.map(({ endedAt }) => endedAt),
      last.map(({ runId }) => runId),
      limits.webhook.attemptMaxMs,
    ],
  );
  return rows.map((row) => ({ ...toOutline(row), redelivery: row.redelivery, isDue: row.is_due }));
}

const lowest = `'00000000-0000-0000-0000-000000000000'`;

/**
 * `step` lists the projects by one look into the index for each. The limits of 1 keep Postgres from
 * reading all logs for a page that is shorter than it expects.
 */
const query = `
  with recursive step (project_id) as (
    (select project_id from runs where webhook_state = 'pending' and project_id > $3
     order by project_id limit 1)
    union all
    select (select r.project_id from runs r
            where r.webhook_state = 'pending' and r.project_id > step.project_id
            order by r.project_id limit 1)
    from step where step.project_id is not null
  ), projects as (
    select *, ceil(${webhooksPerPass}.0 / count(*) over ())::integer as share
    from (select * from step where project_id is not null limit ${webhooksPerPass}) limited
  ), page as (
    select webhook.id, null::integer as redelivery, webhook.turn, projects.project_id
    from projects
    left join unnest($4::text[], $5::timestamptz[], $6::uuid[]) last (project_id, ended_at, id)
      using (project_id)
    cross join lateral (
      select id, row_number() over (order by is_before, ended_at, id) as turn
      from (
        (select id, ended_at, false as is_before from runs
         where webhook_state = 'pending' and project_id = projects.project_id
           and (ended_at, id) > (coalesce(last.ended_at, '-infinity'), coalesce(last.id, ${lowest}))
           and ended_at < (select db_clock()) - $1 * interval '1 ms'
         order by ended_at, id limit projects.share)
        union all
        (select id, ended_at, true from runs
         where webhook_state = 'pending' and project_id = projects.project_id
           and (ended_at, id) <= (last.ended_at, last.id)
           and ended_at < (select db_clock()) - $1 * interval '1 ms'
         order by ended_at, id limit projects.share)
      ) around
      order by turn limit projects.share
    ) webhook
    union all
    (select id, webhook_redeliveries, 0, project_id from runs
     where webhook_redelivery_claimed_at < (select db_clock()) - $1 * interval '1 ms'
     order by webhook_redelivery_claimed_at limit ${webhooksPerPass})
  )
  select ${outlineColumns}, l.last_seq, page.redelivery,
    page.redelivery is not null or not exists (
      select from webhook_attempts a
      where a.run_id = r.id and a.delivery = 0
        and coalesce(a.finished_at, a.started_at + $7 * interval '1 ms')
          > db_clock() - coalesce(($2::integer[])[a.attempt], 0) * interval '1 ms'
    ) as is_due
  from page
  cross join lateral (select * from runs where id = page.id limit 1) r
  cross join lateral (select last_seq from run_logs where run_id = page.id limit 1) l
  order by page.turn, page.project_id, page.id`;
