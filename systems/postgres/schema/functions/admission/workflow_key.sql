-- An idempotency key as it appears in a workflow id. Workflow ids have at most 255 characters, so a
-- long key is replaced by its digest, and so is a key that looks like a digest.
create or replace function workflow_key(key text) returns text language sql stable as $$
  select case
    when length(key) <= 100 and not starts_with(key, 'sha256:') then key
    else 'sha256:' || encode(sha256(convert_to(key, 'UTF8')), 'hex')
  end
$$;
