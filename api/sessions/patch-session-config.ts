import { z } from 'zod';
import type { RunConfig } from '../../core/runs/run-config.ts';
import { parseBody } from '../http/validation.ts';
import { runConfigOf } from '../runs/run-config.ts';
import { configFields } from '../schemas/run-config-fields.ts';
import type { ConfigPatch } from './session-schema.ts';

/** The configuration with the changes in it; refused where the whole would be refused anew. */
export function patchSessionConfig(known: RunConfig, patch: ConfigPatch): RunConfig {
  const whole = parseBody(wholeConfig, {
    env: mergeEnv(known, patch),
    mcpServers: mergeServers(known, patch),
    ...given('mcpMode', patch.mcpMode, known.mcpMode),
    ...given('appendSystemPrompt', patch.appendSystemPrompt, known.appendSystemPrompt),
    ...given('disallowedTools', patch.disallowedTools, known.disallowedTools),
  });
  return runConfigOf(whole, known.context);
}

const wholeConfig = z.strictObject(configFields);

/** Left out, it stays; null clears it. */
function given<T>(name: string, change: T | null | undefined, known: T | null) {
  const value = change === undefined ? known : change;
  return value === null ? {} : { [name]: value };
}

function mergeEnv(known: RunConfig, { env }: ConfigPatch): Record<string, unknown> {
  if (env === undefined) return known.env;
  return env === null ? {} : withoutNulls({ ...known.env, ...env });
}

function mergeServers(known: RunConfig, { mcpServers }: ConfigPatch): Record<string, unknown> {
  if (mcpServers === undefined) return known.mcpServers;
  if (mcpServers === null) return {};
  const changed = Object.entries(mcpServers).map(([name, change]): [string, unknown] => [
    name,
    change === null || !isHeadersAlone(change) ? change : { ...known.mcpServers[name], ...change },
  ]);
  return withoutNulls({ ...known.mcpServers, ...Object.fromEntries(changed) });
}

const isHeadersAlone = (change: object): boolean =>
  Object.keys(change).length === 1 && 'headers' in change;

const withoutNulls = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null));
