-- Assigns the free slots of all hosts to waiting runs and sessions, and returns these. Projects
-- take turns: the one that was served least recently is first. Within a project the longest-waiting
-- run is first. A run that may use none of the free slots delays no other one. A run that another
-- transaction has locked is skipped and keeps its position. So nothing waits under the placement
-- lock. Call it as the only statement of a transaction.
create or replace function assign_waiting(p_stale_after interval)
returns table (run_id uuid, workflow_id text, host_id text, request_id text)
language plpgsql volatile as $$
declare
  served record;
begin
  perform lock_placement();
  loop
    with free as materialized (
      select h as host, h.id, slots.free
      from hosts h
      cross join lateral (
        select h.capacity - count(*) as free
        from runs r where r.host_id = h.id and occupies_slot(r)
      ) slots
      where accepts_work(h, db_clock() - p_stale_after) and slots.free > 0
    )
    select r.id, r.project_id, r.workflow_id, r.request_id, slot.host_id into served
    from runs r
    join flows f on f.id = r.flow_id
    left join sessions s on s.run_id = r.id
    left join project_turns t on t.project_id = r.project_id
    cross join lateral (
      select free.id as host_id from free
      where (f.runner is null or f.runner = free.id) and offers_model(free.host, r.project_id)
      order by (free.id is not distinct from s.last_host_id) desc, free.free desc, free.id
      limit 1
    ) slot
    where r.ended_at is null and r.waiting_since is not null and is_waiting(r)
    order by t.turn nulls first, r.waiting_since, r.id
    limit 1
    for no key update of r skip locked;
    exit when not found;
    update runs r set host_id = served.host_id where r.id = served.id;
    insert into project_turns as t (project_id, turn)
    select served.project_id, coalesce(max(o.turn), 0) + 1 from project_turns o
    on conflict (project_id) do update set turn = excluded.turn;
    run_id := served.id;
    workflow_id := served.workflow_id;
    host_id := served.host_id;
    request_id := served.request_id;
    return next;
  end loop;
end
$$;
