import { limits } from '../../core/limits.ts';
import { envNameError, envNamePattern } from '../../core/runs/env-names.ts';
import { recordOf } from './record-of.ts';
import { maxBytes, text } from './text.ts';

const { namesMax, nameMaxChars, valueMaxBytes } = limits.env;

/** Reserved names are rejected, never ignored. */
export const env = recordOf({
  max: namesMax,
  noun: 'variables',
  nameError: nameFault,
  value: text().check(maxBytes(valueMaxBytes)),
})
  .refine((variables) => bytesOf(variables) <= limits.env.maxBytes, {
    error: `must be at most ${limits.env.maxBytes} bytes of UTF-8 in total, names and values`,
  })
  .meta({
    description:
      'Environment variables of the agent, its tools and its MCP servers. Write-only. ' +
      `At most ${valueMaxBytes} bytes of UTF-8 per value, and ${limits.env.maxBytes} for all names and values. ` +
      "The sandbox's own variables (proxies, `TMPDIR`) are not overridden.",
    maxProperties: namesMax,
    propertyNames: { pattern: envNamePattern, maxLength: nameMaxChars },
    additionalProperties: { type: 'string', maxLength: valueMaxBytes, pattern: '^[^\\u0000]*$' },
  });

function nameFault(name: string): string | null {
  if (name.length > nameMaxChars) return `the name must be at most ${nameMaxChars} characters`;
  return envNameError(name);
}

function bytesOf(variables: Record<string, string>): number {
  const lengths = Object.entries(variables)
    .flat()
    .map((part) => Buffer.byteLength(part));
  return lengths.reduce((sum, length) => sum + length, 0);
}
