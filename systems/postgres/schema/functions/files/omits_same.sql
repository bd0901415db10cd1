-- Whether two records of snapshots omit the same entries. Null: there was no snapshot.
create or replace function omits_same(p_before text, p_after text)
returns boolean language sql immutable as $$
  select before ->> 'skippedCount' = after ->> 'skippedCount'
    and (before -> 'skipped')::text = (after -> 'skipped')::text
  from (
    select coalesce(p_before, '{"skippedCount":0,"skipped":[]}')::json as before,
           p_after::json as after
  ) records
$$;
