import type { RunConfig } from '../../core/runs/run-config.ts';
import { invalid } from '../errors.ts';
import type { ConfigBody } from '../schemas/run-config-fields.ts';
import { checkMcpServers } from './validate-mcp-servers.ts';

/** The run's configuration from the request. Throws if its fields are inconsistent. */
export function runConfigOf(body: ConfigBody, context: RunConfig['context']): RunConfig {
  const env = body.env ?? {};
  const mcpServers = Object.fromEntries(
    Object.entries(body.mcpServers ?? {}).map(([name, { headers, ...server }]) => [
      name,
      headers === undefined ? server : { ...server, headers },
    ]),
  );
  checkMcpServers(mcpServers, env);
  return {
    env,
    mcpServers,
    mcpMode: body.mcpMode ?? 'merge',
    appendSystemPrompt: body.appendSystemPrompt ?? null,
    disallowedTools: body.disallowedTools ?? [],
    context,
  };
}

/** A replay could neither compare nor apply this field, because it cannot be read back. */
export function rejectIdempotentMcpServers(body: ConfigBody, idempotencyKey: string | null): void {
  if (idempotencyKey === null || body.mcpServers === undefined) return;
  throw invalid('body.mcpServers: cannot be combined with an idempotency key');
}
