-- Assigns the free slots of all hosts to waiting runs and sessions, and returns these. Projects
-- take turns: the one that was served least recently is first. Within a project the longest-waiting
-- run is first. A run that may use none of the free slots delays no other one. A run that another
-- transaction has locked is skipped and keeps its position. So nothing waits under the placement
-- lock. A pass reads the queue once, and locks as many runs as slots are free. Another pass follows
-- only if it assigned fewer, because a host has filled up. Call it as the only statement of a
-- transaction.
create or replace function assign_waiting(p_stale_after interval)
returns table (run_id uuid, workflow_id text, host_id text, request_id text)
language plpgsql volatile as $$
declare
  host_ids text[];
  free integer[];
  total integer;
  considered integer;
  queued record;
  picked integer;
  run_ids uuid[];
  run_hosts text[];
  served text[];
begin
  perform lock_placement();
  select array_agg(h.id order by h.id), array_agg(slots.free order by h.id), sum(slots.free)
    into host_ids, free, total
    from hosts h
    cross join lateral (
      select (h.capacity - count(*))::integer as free
      from runs r where r.host_id = h.id and occupies_slot(r)
    ) slots
    where accepts_work(h, db_clock() - p_stale_after) and slots.free > 0;
  while total > 0 loop
    considered := 0;
    run_ids := '{}';
    run_hosts := '{}';
    served := '{}';
    for queued in
      with of_project as (
        select r.project_id,
          array_agg(r.ctid order by r.waiting_since, r.id) as tids,
          array_agg(r.waiting_since order by r.waiting_since, r.id) as since,
          array_agg(f.runner order by r.waiting_since, r.id) as runners
        from runs r join flows f on f.id = r.flow_id
        where r.ended_at is null and r.waiting_since is not null and is_waiting(r)
        group by r.project_id
      ),
      startable as (
        select p.project_id, w.tid, w.since, w.nth, w.runner, offers.hosts, offers.turn
        from of_project p
        cross join lateral (
          select array_agg(h.id) as hosts,
            (select t.turn from project_turns t where t.project_id = p.project_id) as turn
          from unnest(host_ids, free) spare(id, free) join hosts h on h.id = spare.id
          where spare.free > 0 and offers_model(h, p.project_id)
        ) offers
        cross join lateral unnest(p.tids, p.since, p.runners)
          with ordinality w(tid, since, runner, nth)
        where w.runner = any (offers.hosts) or w.runner is null and offers.hosts is not null
      ),
      ranked as (
        select s.tid, s.runner, s.hosts, s.turn,
          row_number() over of_project as nth,
          first_value(s.since) over of_project as since,
          first_value(s.tid) over of_project as first_tid
        from startable s window of_project as (partition by s.project_id order by s.nth)
      )
      select r.*, q.runner, q.hosts
      from (
        select k.tid, k.runner, k.hosts,
          row_number() over (order by k.nth, k.turn nulls first, k.since, k.first_tid) as place
        from ranked k order by place
      ) q
      -- This is evaluated run by run, so no run is locked beyond the limit.
      cross join lateral (
        select w.id, w.project_id, w.workflow_id, w.request_id,
          (select s.last_host_id from sessions s where s.run_id = w.id) as last_host_id
        from runs w where w.ctid = q.tid and is_waiting(w)
        for no key update skip locked
      ) r
      order by q.place
      limit total
    loop
      considered := considered + 1;
      select h.n into picked
        from unnest(host_ids, free) with ordinality h(id, free, n)
        where h.free > 0 and h.id = any (queued.hosts) and h.id = coalesce(queued.runner, h.id)
        order by (h.id is not distinct from queued.last_host_id) desc, h.free desc, h.id
        limit 1;
      continue when not found;
      free[picked] := free[picked] - 1;
      run_ids := run_ids || queued.id;
      run_hosts := run_hosts || host_ids[picked];
      served := served || queued.project_id;
      run_id := queued.id;
      workflow_id := queued.workflow_id;
      host_id := host_ids[picked];
      request_id := queued.request_id;
      return next;
    end loop;
    update runs r set host_id = a.host_id
      from unnest(run_ids, run_hosts) a(run_id, host_id) where r.id = a.run_id;
    insert into project_turns as t (project_id, turn)
      select s.project_id, last.turn + max(s.n)
      from unnest(served) with ordinality s(project_id, n)
      cross join (select coalesce(max(o.turn), 0) as turn from project_turns o) last
      group by s.project_id, last.turn
      on conflict (project_id) do update set turn = excluded.turn;
    exit when considered < total;
    total := total - cardinality(run_ids);
  end loop;
end
$$;
