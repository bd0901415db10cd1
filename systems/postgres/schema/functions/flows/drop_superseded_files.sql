-- Deletes the superseded files of a flow that no version keeps and no active run uses. Versions
-- after `p_last_not_kept` keep their files as long as the superseded ones have at most these bytes
-- and this count together; the oldest are deleted first. The caller locks the flow.
create or replace function drop_superseded_files(
  p_flow_id uuid, p_last_not_kept integer, p_max_bytes bigint, p_max_files integer
) returns void language plpgsql volatile as $$
declare
  kept_from bigint;
begin
  select greatest(
    f.files_kept_from,
    (
      select min(v.files_version) from flow_versions v
      where v.flow_id = f.id and v.version > p_last_not_kept
    ),
    (
      select max(s.valid_to) from (
        select r.valid_to, sum(r.size) over newest as bytes, count(*) over newest as files
        from flow_files r where r.flow_id = f.id and r.valid_to > f.files_kept_from
        -- with all files that the same change has superseded
        window newest as (order by r.valid_to desc)
      ) s
      where s.bytes > p_max_bytes or s.files > p_max_files
    )
  ) into kept_from
  from flows f where f.id = p_flow_id;

  update flows f set files_kept_from = kept_from
    where f.id = p_flow_id and f.files_kept_from < kept_from;
  delete from flow_files f
    where f.flow_id = p_flow_id and f.valid_to <= least(kept_from, (
      select min(r.files_version) from runs r where r.flow_id = p_flow_id and r.ended_at is null
    ));
end
$$;
