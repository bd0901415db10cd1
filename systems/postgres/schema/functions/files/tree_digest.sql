-- The digest of a snapshot of a run. It includes the run's input files, because files that were
-- added since then may change the scope of others.
create or replace function tree_digest(p_run_id uuid, p_snapshot json)
returns bytea language plpgsql stable as $$
begin
  return sha256(convert_to(concat_ws(' ', p_snapshot::text, (
    select string_agg(concat_ws(' ', i.path, encode(i.sha256, 'hex'), i.scope), ' ' order by i.path)
    from input_files i where i.run_id = p_run_id
  )), 'UTF8'));
end
$$;
