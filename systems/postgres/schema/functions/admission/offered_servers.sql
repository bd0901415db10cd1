-- The names of the MCP servers that a flow offers to its agents, which may include this service.
create or replace function offered_servers(flow flows) returns text[]
language sql immutable as $$
  select flow.mcp_server_names || case when flow.child_runs is not null then array['flowrun'] end
$$;
