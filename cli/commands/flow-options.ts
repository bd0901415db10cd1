import { type Command, Option } from 'commander';
import { defaultFlow, type Flow, type NetworkPolicy } from '../../core/flows/flow.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { UsageError } from '../format-error.ts';
import {
  allowedHost,
  budgetUsd,
  cpus,
  fileText,
  instructions,
  jsonObject,
  memory,
  model,
  monthlyBudgetUsd,
  name,
  noneAsNull,
  type OrNone,
  orNone,
  prompt,
  wholeNumber,
} from '../parse-options.ts';

/** Options of both `flow create` and `flow update`. */
export interface FlowOptions {
  config?: JsonObject;
  name?: string;
  prompt?: string;
  promptFile?: string;
  instructionsFile?: string;
  model?: OrNone<string>;
  network?: NetworkPolicy;
  allowHost?: string[];
  memory?: number;
  cpus?: number;
  timeoutSeconds?: OrNone<number>;
  maxTurns?: OrNone<number>;
  maxBudgetUsd?: OrNone<number>;
  monthlyBudgetUsd?: OrNone<number>;
  runner?: OrNone<string>;
  schedule?: OrNone<string>;
  timezone?: string;
  json?: true;
}

export function withFlowOptions(command: Command): Command {
  const policy = new Option('--network <policy>', 'network access of its runs');
  const promptFile = new Option(
    '--prompt-file <path>',
    'the prompt from a file; - is standard input',
  );
  const timeout = wholeNumber(1, limits.run.timeoutMaxSeconds);
  const turns = wholeNumber(1, limits.run.turnsMax);
  return command
    .option('--config <path>', 'fields as JSON from a file; - is standard input', (path) =>
      jsonObject(fileText(path)),
    )
    .option('--name <text>', 'display name', name)
    .option('--prompt <text>', 'default prompt of its runs', prompt)
    .addOption(promptFile.argParser((path) => prompt(fileText(path))).conflicts('prompt'))
    .option('--instructions-file <path>', 'file with the system prompt', (path) =>
      instructions(fileText(path)),
    )
    .option('--model <name|none>', 'model; none: the agent’s default', orNone(model))
    .addOption(policy.choices(['limited', 'open', 'none']))
    .option('--allow-host <host>', 'a host that its runs may reach; repeatable', allowedHost)
    .option('--memory <size>', 'memory of each run, like 2GiB', memory)
    .option('--cpus <n>', 'CPUs of each run', cpus)
    .option('--timeout-seconds <n|none>', 'maximum duration of a run', orNone(timeout))
    .option('--max-turns <n|none>', 'maximum number of model turns of a run', orNone(turns))
    .option('--max-budget-usd <n|none>', 'maximum cost of a run or a session', orNone(budgetUsd))
    .option(
      '--monthly-budget-usd <n|none>',
      'maximum cost of all its runs in a month',
      orNone(monthlyBudgetUsd),
    )
    .option('--runner <host|none>', 'ID of the only host that may run it', orNone(name))
    .option(
      '--schedule <cron|none>',
      'cron schedule, like "30 9 * * MON-FRI"',
      orNone((text) => text),
    )
    .option('--timezone <name>', 'IANA time zone of the schedule (default: UTC)')
    .option('--json', 'print JSON')
    .addHelpText('after', configHelp);
}

const configHelp = `
--config accepts every field of the operators' API. Fields without an option, and secrets,
can only be set this way:
  {"description": "…", "image": "…", "disallowedTools": ["Bash(git:*)"],
   "allowedModels": ["sonnet"],
   "env": {"TOKEN": "…"},
   "mcpServers": {"docs": {"type": "http", "url": "https://…",
                           "headers": {"Authorization": "Bearer \${TOKEN}"}}}}
Keys under "env" and "mcpServers" are merged; null removes a key, and null in place of the
object removes all. Options override the file.`;

/** Refuses contradictions that are invalid for any flow. */
export function checkConsistency({ schedule, timezone }: FlowOptions): void {
  if (schedule === 'none' && timezone !== undefined)
    throw new UsageError('--timezone cannot be used with --schedule none.');
}

/** Whether no field of the flow is set. */
export function isEmptyUpdate({ config = {}, json: _json, ...options }: FlowOptions): boolean {
  return Object.keys({ ...config, ...omitUndefined(options) }).length === 0;
}

/** The request body for the operators' API: the file, overridden by options. */
export function requestBody(
  options: FlowOptions,
  before: Pick<Flow, 'schedule'> = defaultFlow,
): JsonObject {
  const { config = {} } = options;
  const fields = {
    name: options.name,
    prompt: options.prompt ?? options.promptFile,
    instructions: options.instructionsFile,
    model: noneAsNull(options.model),
    network: mergeOptions(config['network'], {
      policy: options.network,
      allowedHosts: options.allowHost,
    }),
    resources: mergeOptions(config['resources'], {
      memoryBytes: options.memory,
      cpus: options.cpus,
    }),
    timeoutSeconds: noneAsNull(options.timeoutSeconds),
    limits: mergeOptions(config['limits'], {
      maxTurns: noneAsNull(options.maxTurns),
      maxBudgetUsd: noneAsNull(options.maxBudgetUsd),
    }),
    monthlyBudgetUsd: noneAsNull(options.monthlyBudgetUsd),
    runner: noneAsNull(options.runner),
    schedule: scheduleOf(options, config['schedule'] ?? before.schedule),
  };
  return { ...config, ...omitUndefined(fields) };
}

/**
 * Merges options into a group of the file. Keeps the file's value if no option is set or it is
 * invalid.
 */
function mergeOptions(group: unknown, options: object): unknown {
  const fields = omitUndefined(options);
  if (Object.keys(fields).length === 0) return undefined;
  if (group !== undefined && !isObject(group)) return undefined;
  return { ...group, ...fields };
}

/** Keeps the previous cron or time zone if only the other is set. */
function scheduleOf({ schedule, timezone }: FlowOptions, before: unknown): unknown {
  if (schedule === 'none') return null;
  const fields = mergeOptions(before ?? undefined, { cron: schedule, timezone });
  if (isObject(fields) && fields['cron'] === undefined)
    throw new UsageError('--timezone needs a schedule, and the flow has none.');
  return fields;
}
