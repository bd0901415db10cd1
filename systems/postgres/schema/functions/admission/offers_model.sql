-- Whether a host may run a project's agents: the project has a model key, or the host has a model
-- for it. Generated text must not be mistaken for real answers. So once a host with a key was seen,
-- the offline model answers only if OFFLINE_MODEL=yes asks for it and no other host has a key,
-- except one that is draining: a host that is gone for good can be drained.
create or replace function offers_model(host hosts, p_project_id text) returns boolean
language plpgsql stable as $$
begin
  if host.model = 'key' then
    return true;
  end if;
  return exists (select from projects p where p.id = p_project_id and p.model_sealed is not null)
    or case host.model
      when 'offline' then not exists (
        select from hosts h where h.model = 'key' and h.id <> host.id and not h.draining
      )
      when 'offline_by_default' then not exists (select from installation i where i.fact = 'model_key_seen')
      else false
    end;
end
$$;
