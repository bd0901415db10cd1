-- Stores the current state of a flow as its version, and deletes versions and files that are no
-- longer kept. Call it in the transaction of the change, which holds the lock of the flow. A change
-- of the files alone stores no definition: its version has that of an earlier one, which is kept
-- with it.
create or replace function record_flow_version(
  p_flow_id uuid, p_changed_by text, p_changed_secrets text[], p_kept integer,
  p_kept_file_bytes bigint, p_kept_files integer
) returns void language plpgsql volatile as $$
declare
  flow flows;
  latest flow_versions;
  latest_definition json;
  definition json;
  is_same boolean;
  last_not_kept integer;
begin
  select * into flow from flows f where f.id = p_flow_id;
  select * into latest from flow_versions v
    where v.flow_id = flow.id and v.version = flow.version - 1;
  select v.definition into latest_definition from flow_versions v
    where v.flow_id = flow.id and v.version = latest.definition_version;
  definition := flow_definition(flow);
  is_same := latest_definition is not null and definition::text = latest_definition::text;
  last_not_kept := flow.version - p_kept;

  insert into flow_versions (
    flow_id, version, definition_version, definition, files_version, file_count, storage_bytes,
    changed_fields, changed_secrets, changed_by
  ) values (
    flow.id, flow.version,
    case when is_same then latest.definition_version else flow.version end,
    case when not is_same then definition end,
    flow.files_version, flow.file_count, flow.storage_bytes,
    array(
      select case e.key
               when 'envNames' then 'env' when 'mcpServerNames' then 'mcpServers' else e.key
             end
      from json_each(definition) e
        where e.value::text is distinct from (latest_definition -> e.key)::text
      union
      select split_part(s.name, '.', 1) from unnest(p_changed_secrets) s(name)
      union
      select 'files' where flow.files_version is distinct from latest.files_version
      order by 1
    ),
    p_changed_secrets, p_changed_by
  );
  delete from flow_versions v
    where v.flow_id = flow.id and v.version <= last_not_kept
      and not exists (
        select from flow_versions k
        where k.flow_id = flow.id and k.version > last_not_kept
          and k.definition_version = v.version
      );
  perform drop_superseded_files(flow.id, last_not_kept, p_kept_file_bytes, p_kept_files);
end
$$;
