import { z } from 'zod';
import { allowedHostRule, imageRule } from '../../core/field-rules.ts';
import { defaultFlow, type Flow, type FlowSecrets, noSecrets } from '../../core/flows/flow.ts';
import { lacksPrompt, type Schedule, scheduleError } from '../../core/flows/schedule.ts';
import { limits } from '../../core/limits.ts';
import { modelLimits } from '../../core/model/model-limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { envNamePattern } from '../../core/runs/env-names.ts';
import type { FlowFields } from '../../systems/postgres/accounts/flow-store.ts';
import { invalid } from '../errors.ts';
import { parseBody } from '../http/validation.ts';
import { checkMcpServers } from '../runs/validate-mcp-servers.ts';
import { newChildRuns } from '../schemas/child-runs.ts';
import { disallowedTools } from '../schemas/disallowed-tools.ts';
import { env } from '../schemas/env.ts';
import { describedServer, mcpServers, serverName } from '../schemas/mcp-servers.ts';
import { monthlyBudget } from '../schemas/monthly-budget.ts';
import { boundFields, model } from '../schemas/run-bounds.ts';
import { matching, maxBytes, name, nonBlankText, textUpTo } from '../schemas/text.ts';

/** Entries replace those of the same name. Null removes an entry; null for the map removes all. */
const mapChanges = (entries: Record<string, unknown>) =>
  z.record(z.string(), z.unknown()).meta(entries).nullable().optional();

const shape = {
  description: textUpTo(limits.text.descriptionMaxChars).nullable().optional(),
  prompt: nonBlankText().check(maxBytes(limits.text.promptMaxBytes)).nullable().optional(),
  instructions: textUpTo(limits.text.instructionsMaxChars).nullable().optional(),
  model: model.nullable().optional(),
  allowedModels: z.array(model).max(modelLimits.allowedMax).optional(),
  disallowedTools: disallowedTools.optional(),
  image: matching(imageRule).nullable().optional(),
  runner: name().nullable().optional(),
  timeoutSeconds: boundFields.timeoutSeconds.nullable(),
  resources: z
    .strictObject({
      memoryBytes: z
        .int()
        .min(limits.sandbox.memoryMinBytes)
        .max(limits.sandbox.memoryMaxBytes)
        .optional(),
      cpus: z.number().min(limits.sandbox.cpusMin).max(limits.sandbox.cpusMax).optional(),
    })
    .optional(),
  network: z
    .strictObject({
      policy: z.enum(['limited', 'open', 'none']).optional(),
      allowedHosts: z.array(matching(allowedHostRule)).max(limits.flow.allowedHostsMax).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      maxTurns: boundFields.maxTurns.nullable(),
      maxBudgetUsd: boundFields.maxBudgetUsd.nullable(),
    })
    .partial()
    .optional(),
  monthlyBudgetUsd: monthlyBudget('Maximum cost of the model calls of its runs in a month (UTC).'),
  childRuns: newChildRuns.nullable().optional(),
  schedule: z
    .strictObject({
      cron: z.string().meta({
        maxLength: 200,
        pattern: '^[A-Za-z0-9/,*-]+(?: [A-Za-z0-9/,*-]+){4}$',
      }),
      timezone: z.string().default('UTC').meta({ pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$' }),
    })
    .check(checkSchedule)
    .nullable()
    .optional(),
  env: mapChanges({
    propertyNames: { pattern: envNamePattern },
    additionalProperties: { type: ['string', 'null'], pattern: '^[^\\u0000]*$' },
  }).meta({ description: 'Merged by name. Null removes a variable.' }),
  mcpServers: mapChanges({
    propertyNames: { pattern: serverName.source },
    additionalProperties: { anyOf: [describedServer, { type: 'null' }] },
  }).meta({ description: 'Merged by name. Null removes a server.' }),
};

function checkSchedule({ value, issues }: z.core.ParsePayload<Schedule>): void {
  const error = scheduleError(value);
  if (error === null) return;
  issues.push({ code: 'custom', input: value, path: [error.field], message: error.message });
}

export const newFlow = z.strictObject({ name: name(), ...shape });
export const flowPatch = z.strictObject({ name: name().optional(), ...shape });
const secretsSchema = z.object({ env, mcpServers });

type FlowPatch = z.infer<typeof flowPatch>;
type Before = Pick<Flow, 'resources' | 'network' | 'limits' | 'prompt' | 'schedule'>;

/**
 * The fields to store. Absent members of resources, network and limits keep their values; a
 * schedule is replaced as a whole.
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
    throw invalid('body.schedule: requires a prompt in the flow');
  return fields;
}

type Changes = z.infer<ReturnType<typeof mapChanges>>;

/** Validated as a whole, because limits apply to the whole and a server may refer to a variable. */
function patchSecrets(
  before: FlowSecrets,
  changes: { env: Changes; mcpServers: Changes },
): FlowSecrets {
  const secrets = parseBody(secretsSchema, {
    env: mergeEntries(before.env, changes.env),
    mcpServers: mergeEntries(before.mcpServers, changes.mcpServers),
  }) as FlowSecrets; // parsed JSON contains no undefined
  checkMcpServers(secrets.mcpServers, secrets.env);
  return secrets;
}

function mergeEntries(before: Record<string, unknown>, changes: Changes): Record<string, unknown> {
  if (changes === null) return {};
  const all = Object.entries({ ...before, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
