-- Which budget a run has reached, besides its own: a monthly one, or that of its tree. 'none': no
-- budget is reached. Null: there is none.
create or replace function budget_of_run(p_monthly text, p_tree text) returns text
language sql immutable as $$
  select coalesce(nullif(p_monthly, 'none'), nullif(p_tree, 'none'), p_monthly, p_tree)
$$;
