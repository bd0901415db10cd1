import { limits } from '../../core/limits.ts';
import { envNameError } from '../../core/runs/env-names.ts';
import { recordOf } from './record-of.ts';
import { maxBytes, text } from './text.ts';

const { envNamesMax, envNameMaxChars, envValueMaxBytes, envMaxBytes } = limits;

/** Reserved names are rejected, never ignored. */
export const env = recordOf({
  max: envNamesMax,
  noun: 'variables',
  nameError: nameFault,
  value: text().check(maxBytes(envValueMaxBytes)),
})
  .refine((variables) => bytesOf(variables) <= envMaxBytes, {
    error: `must be at most ${envMaxBytes} bytes of UTF-8 in total, names and values`,
  })
  .meta({
    description:
      'Environment variables of the agent, its tools and its MCP servers. Write-only. ' +
      `At most ${envValueMaxBytes} bytes of UTF-8 per value, and ${envMaxBytes} for all names and values. ` +
      "The sandbox's own variables (proxies, `TMPDIR`) are not overridden.",
    maxProperties: envNamesMax,
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: envNameMaxChars },
    additionalProperties: { type: 'string' },
  });

function nameFault(name: string): string | null {
  if (name.length > envNameMaxChars)
    return `the name must be at most ${envNameMaxChars} characters`;
  return envNameError(name);
}

function bytesOf(variables: Record<string, string>): number {
  const lengths = Object.entries(variables)
    .flat()
    .map((part) => Buffer.byteLength(part));
  return lengths.reduce((sum, length) => sum + length, 0);
}
