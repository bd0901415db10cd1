-- Each label as it is written in JSON, name and value together. A plain quote always ends a name or
-- a value, because JSON escapes all others, so no pair matches across labels. Labels may hold text
-- that Postgres' JSON functions reject, so a regular expression reads them.
create or replace function label_pairs(labels text) returns text[]
language plpgsql immutable parallel safe cost 1000 as $$
begin
  if labels = '{}' then
    return '{}';
  end if;
  return array(
    select m[1] from regexp_matches(labels, '("(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*")', 'g') m
  );
end
$$;
