-- Handles lost commits as a restore. Call when the host's last confirmed heartbeat is missing, or a
-- commit that Redis has recorded. `p_known_restores` are the restores that the database had at that
-- heartbeat. A later one has covered the loss already: `flowrun restore` or another host has
-- recorded it. Returns whether this call did.
create or replace function record_loss(p_host_id text, p_known_restores uuid[])
returns boolean language plpgsql volatile as $$
begin
  lock table restores in share row exclusive mode;
  if exists (select from restores r where r.id <> all (p_known_restores)) then
    return false;
  end if;
  perform record_restore(coalesce(
    (select h.last_seen from hosts h where h.id = p_host_id), '2000-01-01 00:00:00+00'
  ));
  return true;
end
$$;
