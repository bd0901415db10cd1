-- The fields of a flow that its versions have, under the names that clients read. It has only
-- the names of secrets.
create or replace function flow_definition(f flows) returns json language plpgsql immutable as $$
begin
  return json_build_object(
    'name', f.name,
    'description', f.description,
    'prompt', f.prompt,
    'instructions', f.instructions,
    'model', f.model,
    'allowedModels', f.allowed_models,
    'disallowedTools', f.disallowed_tools,
    'mcpServerNames', f.mcp_server_names,
    'envNames', f.env_names,
    'image', f.image,
    'resources', json_build_object('memoryBytes', f.memory_bytes, 'cpus', f.cpus),
    'network', json_build_object('policy', f.network_policy, 'allowedHosts', f.allowed_hosts),
    'timeoutSeconds', f.timeout_seconds,
    'limits', json_build_object('maxTurns', f.max_turns, 'maxBudgetUsd', f.max_budget_usd),
    'monthlyBudgetUsd', f.monthly_budget_usd,
    'childRuns', f.child_runs,
    'runner', f.runner,
    'schedule', case when f.schedule_cron is not null then
      json_build_object('cron', f.schedule_cron, 'timezone', f.schedule_timezone)
    end
  );
end
$$;
