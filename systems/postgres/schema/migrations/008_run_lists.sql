-- Up Migration

-- Each label as JSON writes it, name and value together. No pair can be found where there is none:
-- a quote inside of a name or a value is escaped, so that a plain one always is an end. A label may
-- hold what Postgres' own JSON functions refuse, so none of them is asked.
create function label_pairs(labels text) returns text[]
language sql immutable parallel safe cost 1000 as $$
  select array(
    select m[1] from regexp_matches(labels, '("(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*")', 'g') m
  )
$$;

-- Of all runs: of an index of some, Postgres keeps no statistics, and would take a rare label for a
-- common one.
create index runs_by_label on runs using gin (label_pairs(labels));
create index runs_by_session on runs (project_id, session_id, created_at desc, id desc)
  where session_id is not null;
