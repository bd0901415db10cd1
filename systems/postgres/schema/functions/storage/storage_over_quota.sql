-- The bytes that a project stores if its storage quota is used up; null if it is not. Content,
-- frames, prompts, messages, results, questions and webhook bodies are counted from when they are
-- stored until they are removed from Postgres.
create or replace function storage_over_quota(p_project_id text)
returns table ("limit" bigint, current bigint)
language sql stable as $$
  select p.storage_quota_bytes, s.bytes
  from projects p cross join lateral (
    select coalesce(sum(c.bytes), 0)::bigint as bytes from (
      select t.bytes from stored_bytes t where t.project_id = p.id
      union all
      select t.bytes from stored_bytes_changes t where t.project_id = p.id
    ) c
  ) s
  where p.id = p_project_id and s.bytes >= p.storage_quota_bytes
$$;
