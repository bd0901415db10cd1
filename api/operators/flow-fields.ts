import { z } from 'zod';
import { allowedHostRule, imageRule } from '../../core/field-rules.ts';
import { defaultFlow, type Flow, type FlowSecrets } from '../../core/flows/flow.ts';
import { lacksPrompt, type Schedule, scheduleError } from '../../core/flows/schedule.ts';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { FlowFields } from '../../systems/postgres/accounts/flow-store.ts';
import { invalid } from '../errors.ts';
import { parseBody } from '../http/validation.ts';
import { checkMcpServers } from '../runs/validate-mcp-servers.ts';
import { disallowedTools } from '../schemas/disallowed-tools.ts';
import { env } from '../schemas/env.ts';
import { mcpServers } from '../schemas/mcp-servers.ts';
import { boundFields, model } from '../schemas/run-bounds.ts';
import { matching, maxBytes, name, nonBlankText, textUpTo } from '../schemas/text.ts';

/** Entries replace those of the same name, null takes one away, and null for all takes all. */
const changes = z.record(z.string(), z.unknown()).nullable().optional();

const shape = {
  description: textUpTo(limits.descriptionMaxChars).nullable().optional(),
  prompt: nonBlankText().check(maxBytes(limits.promptMaxBytes)).nullable().optional(),
  instructions: textUpTo(limits.instructionsMaxChars).nullable().optional(),
  model: model.nullable().optional(),
  disallowedTools: disallowedTools.optional(),
  image: matching(imageRule).nullable().optional(),
  runner: name().nullable().optional(),
  timeoutSeconds: boundFields.timeoutSeconds.nullable(),
  resources: z
    .strictObject({
      memoryBytes: z.int().min(limits.memoryMinBytes).max(limits.memoryMaxBytes).optional(),
      cpus: z.number().min(limits.cpusMin).max(limits.cpusMax).optional(),
    })
    .optional(),
  network: z
    .strictObject({
      policy: z.enum(['limited', 'open', 'none']).optional(),
      allowedHosts: z.array(matching(allowedHostRule)).max(limits.allowedHostsMax).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      maxTurns: boundFields.maxTurns.nullable(),
      maxBudgetUsd: boundFields.maxBudgetUsd.nullable(),
    })
    .partial()
    .optional(),
  schedule: z
    .strictObject({ cron: z.string(), timezone: z.string().default('UTC') })
    .check(checkSchedule)
    .nullable()
    .optional(),
  env: changes,
  mcpServers: changes,
};

function checkSchedule({ value, issues }: z.core.ParsePayload<Schedule>): void {
  const fault = scheduleError(value);
  if (fault === null) return;
  issues.push({ code: 'custom', input: value, path: [fault.field], message: fault.message });
}

export const newFlow = z.strictObject({ name: name(), ...shape });
export const flowPatch = z.strictObject({ name: name().optional(), ...shape });
const secretsSchema = z.object({ env, mcpServers });

type FlowPatch = z.infer<typeof flowPatch>;
type Before = Pick<Flow, 'resources' | 'network' | 'limits' | 'prompt' | 'schedule'>;

const noSecrets: FlowSecrets = { env: {}, mcpServers: {} };

/**
 * What is stored: of resources, network and limits, members that are not given stay as they were; a
 * schedule is given whole.
 */
export function flowFieldsFrom(
  { resources, network, limits: bounds, env: variables, mcpServers: servers, ...rest }: FlowPatch,
  before: { flow: Before; secrets: FlowSecrets } = { flow: defaultFlow, secrets: noSecrets },
): Partial<FlowFields> {
  const { flow, secrets } = before;
  const isSecret = variables !== undefined || servers !== undefined;
  const fields = {
    ...omitUndefined(rest),
    ...(resources && { resources: { ...flow.resources, ...omitUndefined(resources) } }),
    ...(network && { network: { ...flow.network, ...omitUndefined(network) } }),
    ...(bounds && { limits: { ...flow.limits, ...omitUndefined(bounds) } }),
    ...(isSecret && { secrets: patchSecrets(secrets, { env: variables, mcpServers: servers }) }),
  };
  if (lacksPrompt({ ...flow, ...fields }))
    throw invalid('body.schedule: needs a prompt of the flow');
  return fields;
}

type Changes = z.infer<typeof changes>;

/** Judged as a whole, since the bounds are those of the whole, and a server may name a variable. */
function patchSecrets(
  before: FlowSecrets,
  given: { env: Changes; mcpServers: Changes },
): FlowSecrets {
  const secrets = parseBody(secretsSchema, {
    env: mergeEntries(before.env, given.env),
    mcpServers: mergeEntries(before.mcpServers, given.mcpServers),
  }) as FlowSecrets; // what came as JSON holds no undefined
  checkMcpServers(secrets.mcpServers, secrets.env);
  return secrets;
}

function mergeEntries(before: Record<string, unknown>, given: Changes): Record<string, unknown> {
  if (given === null) return {};
  const all = Object.entries({ ...before, ...given });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
