-- Identifies the files of a flow as a set: their paths, contents, permissions and times. Each file
-- has the same length in the hashed bytes, so different sets have different tags.
create or replace function flow_files_tag(p_flow_id uuid)
returns text language plpgsql stable as $$
begin
  return (
    select encode(sha256(coalesce(
      string_agg(
        sha256(convert_to(f.path, 'UTF8')) || f.sha256 || int4send(f.mode)
          || timestamptz_send(f.modified_at),
        ''::bytea order by f.path
      ),
      ''::bytea
    )), 'hex')
    from flow_files f
    where f.flow_id = p_flow_id and f.valid_to is null
  );
end
$$;
