import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { maxCharacters, text } from './text.ts';

/**
 * A tool, a tool of an MCP server, or a tool with a specifier. The agent would take anything else
 * for the name of an unknown tool and withhold nothing.
 */
const form = /^[A-Za-z][A-Za-z0-9_-]*(?:\*|\((.+)\))?$/;

const toolName = text()
  .min(1)
  .check(maxCharacters(limits.tool.disallowedMaxChars))
  .refine(isToolRule, { error: 'must be Tool, mcp__server__tool or Tool(specifier)' })
  .meta({ pattern: form.source });

export const disallowedTools = z
  .array(z.unknown())
  .max(limits.tool.disallowedMax)
  .pipe(z.array(toolName))
  .meta({
    description:
      'Tools withheld from the agent, such as `Bash`, `mcp__server__tool` or `Bash(git:*)`.',
    type: 'array',
    maxItems: limits.tool.disallowedMax,
    items: { type: 'string', maxLength: limits.tool.disallowedMaxChars, pattern: form.source },
  });

function isToolRule(rule: string): boolean {
  const found = form.exec(rule);
  return found !== null && isBalanced(found[1] ?? '') && isOneRule(rule);
}

function isBalanced(specifier: string): boolean {
  let depth = 0;
  for (const char of specifier) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** For the agent a space or a comma ends a rule, except between `(` and the next `)`. */
function isOneRule(rule: string): boolean {
  return !/[\s,]/.test(rule.replaceAll(/\([^)]*\)/g, ''));
}
