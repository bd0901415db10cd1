import type { RunConfig } from '../../core/runs/run-config.ts';
import { invalid } from '../errors.ts';
import type { ConfigBody } from '../schemas/run-config-fields.ts';
import { checkMcpServers } from './validate-mcp-servers.ts';

/** What a request brings for its own sandbox; refused where its parts do not go together. */
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

/** A replay could neither compare nor apply what nobody may read back. */
export function rejectIdempotentMcpServers(body: ConfigBody, idempotencyKey: string | null): void {
  if (idempotencyKey === null || body.mcpServers === undefined) return;
  throw invalid('body.mcpServers: cannot be given together with an idempotency key');
}
