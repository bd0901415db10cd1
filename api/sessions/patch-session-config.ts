import { z } from 'zod';
import type { RunConfig } from '../../core/runs/run-config.ts';
import { parseBody } from '../http/validation.ts';
import { runConfigOf } from '../runs/run-config.ts';
import { configFields } from '../schemas/run-config-fields.ts';
import type { ConfigPatch } from './session-schema.ts';

/** Applies a patch. Throws if the resulting configuration is invalid. */
export function patchSessionConfig(known: RunConfig, patch: ConfigPatch): RunConfig {
  const whole = parseBody(wholeConfig, {
    env: mergeEnv(known, patch),
    mcpServers: mergeServers(known, patch),
    ...patched('mcpMode', patch.mcpMode, known.mcpMode),
    ...patched('appendSystemPrompt', patch.appendSystemPrompt, known.appendSystemPrompt),
    ...patched('disallowedTools', patch.disallowedTools, known.disallowedTools),
  });
  return runConfigOf(whole, known.context);
}

const wholeConfig = z.strictObject(configFields);

/** An absent field keeps its value; null clears it. */
function patched<T>(name: string, change: T | null | undefined, known: T | null) {
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
    change === null || !hasOnlyHeaders(change) ? change : { ...known.mcpServers[name], ...change },
  ]);
  return withoutNulls({ ...known.mcpServers, ...Object.fromEntries(changed) });
}

const hasOnlyHeaders = (change: object): boolean =>
  Object.keys(change).length === 1 && 'headers' in change;

const withoutNulls = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null));
