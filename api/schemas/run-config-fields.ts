import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { disallowedTools } from './disallowed-tools.ts';
import { env } from './env.ts';
import { mcpServers } from './mcp-servers.ts';
import { textUpTo } from './text.ts';

/** The write-only configuration of a run or a session. */
export const configFields = {
  mcpServers: mcpServers.optional(),
  mcpMode: z.enum(['merge', 'replace']).optional().meta({
    description:
      "`merge` (default): these servers are added to the flow's, and replace those with the same name. `replace`: only these are used.",
  }),
  appendSystemPrompt: textUpTo(limits.text.appendSystemPromptMaxChars)
    .optional()
    .meta({ description: "Appended to the flow's instructions. Write-only." }),
  disallowedTools: disallowedTools.optional(),
  env: env.optional(),
};

export type ConfigBody = z.infer<z.ZodObject<typeof configFields>>;
