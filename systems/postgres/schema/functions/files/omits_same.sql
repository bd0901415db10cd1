-- Whether two records of snapshots omit the same entries. Null: there was no snapshot.
create or replace function omits_same(p_before text, p_after text)
returns boolean language plpgsql immutable as $$
declare
  before constant json := coalesce(p_before, '{"skippedCount":0,"skipped":[]}');
  after constant json := p_after;
begin
  return before ->> 'skippedCount' = after ->> 'skippedCount'
    and (before -> 'skipped')::text = (after -> 'skipped')::text;
end
$$;
