import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { disallowedTools } from './disallowed-tools.ts';
import { env } from './env.ts';
import { mcpServers } from './mcp-servers.ts';
import { textUpTo } from './text.ts';

/** What a run brings for its own sandbox and nobody may read back; a session's the same. */
export const configFields = {
  mcpServers: mcpServers.optional(),
  mcpMode: z.enum(['merge', 'replace']).optional().meta({
    description:
      "merge, the default: the flow's servers and these, which win by name; replace: only these.",
  }),
  appendSystemPrompt: textUpTo(limits.appendSystemPromptMaxChars)
    .optional()
    .meta({ description: "Comes after the flow's own instructions; write-only." }),
  disallowedTools: disallowedTools.optional(),
  env: env.optional(),
};

export type ConfigBody = z.infer<z.ZodObject<typeof configFields>>;
