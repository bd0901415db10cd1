-- The host with the most free slots that may run the project's agents; null when none has one. A
-- host on which a waiting run may start has none: assign_waiting serves waiting runs first.
-- `pinned_host` restricts the choice to one host, `excluded_host` is never chosen, and
-- `stale_after` is the age of a heartbeat from which on a host gets no new work. Call with the
-- placement lock held. The function is in plpgsql, which caches the plan, because planning takes
-- longer than running.
create or replace function pick_host(
  p_project_id text, pinned_host text, stale_after interval, at timestamptz,
  excluded_host text default null
)
returns text language plpgsql volatile as $$
begin
  return (
    select h.id
    from hosts h
    cross join lateral (
      select h.capacity - count(*) as free
      from runs r where r.host_id = h.id and occupies_slot(r)
    ) slots
    where accepts_work(h, at - stale_after)
      and slots.free > 0
      and offers_model(h, p_project_id)
      and (pinned_host is null or h.id = pinned_host)
      and h.id is distinct from excluded_host
      and not exists (
        select from runs w join flows f on f.id = w.flow_id
        where w.ended_at is null and w.waiting_since is not null and is_waiting(w)
          and (f.runner is null or f.runner = h.id) and offers_model(h, w.project_id)
      )
    order by slots.free desc, h.id
    limit 1
  );
end
$$;
