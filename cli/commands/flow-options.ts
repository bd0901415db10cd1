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
  name,
  noneAsNull,
  type OrNone,
  orNone,
  prompt,
  wholeNumber,
} from '../parse-options.ts';

/** What is decided about a flow, both when it is made and when it is changed. */
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
  runner?: OrNone<string>;
  schedule?: OrNone<string>;
  timezone?: string;
  json?: true;
}

export function withFlowOptions(command: Command): Command {
  const policy = new Option('--network <policy>', 'what its runs may reach');
  const promptFile = new Option(
    '--prompt-file <path>',
    'the same, from a file; - is standard input',
  );
  const timeout = wholeNumber(1, limits.timeoutMaxSeconds);
  const turns = wholeNumber(1, limits.maxTurnsMax);
  return command
    .option('--config <path>', 'its fields as JSON, from a file; - is standard input', (path) =>
      jsonObject(fileText(path)),
    )
    .option('--name <text>', 'what people call it', name)
    .option('--prompt <text>', 'the first message of a run that brings none', prompt)
    .addOption(promptFile.argParser((path) => prompt(fileText(path))).conflicts('prompt'))
    .option('--instructions-file <path>', 'its system prompt', (path) =>
      instructions(fileText(path)),
    )
    .option('--model <name|none>', 'the model; none: the agent’s own choice', orNone(model))
    .addOption(policy.choices(['limited', 'open', 'none']))
    .option('--allow-host <host>', 'a host its runs may reach; may be repeated', allowedHost)
    .option('--memory <size>', 'of each run, like 2GiB', memory)
    .option('--cpus <n>', 'of each run', cpus)
    .option('--timeout-seconds <n|none>', 'how long a run may take', orNone(timeout))
    .option('--max-turns <n|none>', 'how often a run may ask the model', orNone(turns))
    .option('--max-budget-usd <n|none>', 'what a run may cost', orNone(budgetUsd))
    .option('--runner <host|none>', 'the id of the only host that may run it', orNone(name))
    .option(
      '--schedule <cron|none>',
      'when it runs by itself, like "30 9 * * MON-FRI"',
      orNone((text) => text),
    )
    .option('--timezone <name>', 'where the schedule’s clock hangs (default: UTC)')
    .option('--json', 'print JSON')
    .addHelpText('after', configHelp);
}

const configHelp = `
--config takes every field that the operators' API takes, the only way for those without
an option of their own, so that no secret stands on a command line:
  {"description": "…", "image": "…", "disallowedTools": ["Bash(git:*)"],
   "env": {"TOKEN": "…"},
   "mcpServers": {"docs": {"type": "http", "url": "https://…",
                           "headers": {"Authorization": "Bearer \${TOKEN}"}}}}
Of "env" and "mcpServers", what is named is put in, null takes one away, and null for all
takes all away. Options win over the file.`;

/** What no flow could make sense of, there or not. */
export function checkTogether({ schedule, timezone }: FlowOptions): void {
  if (schedule === 'none' && timezone !== undefined)
    throw new UsageError('--timezone is that of a schedule, and --schedule none takes it away.');
}

/** Whether anything is said of the flow itself. */
export function saysNothing({ config = {}, json: _json, ...options }: FlowOptions): boolean {
  return Object.keys({ ...config, ...omitUndefined(options) }).length === 0;
}

/** What the operators' API would be sent: what the file says, and what options say over it. */
export function bodyOf(
  options: FlowOptions,
  before: Pick<Flow, 'schedule'> = defaultFlow,
): JsonObject {
  const { config = {} } = options;
  const given = {
    name: options.name,
    prompt: options.prompt ?? options.promptFile,
    instructions: options.instructionsFile,
    model: noneAsNull(options.model),
    network: over(config['network'], {
      policy: options.network,
      allowedHosts: options.allowHost,
    }),
    resources: over(config['resources'], { memoryBytes: options.memory, cpus: options.cpus }),
    timeoutSeconds: noneAsNull(options.timeoutSeconds),
    limits: over(config['limits'], {
      maxTurns: noneAsNull(options.maxTurns),
      maxBudgetUsd: noneAsNull(options.maxBudgetUsd),
    }),
    runner: noneAsNull(options.runner),
    schedule: scheduleOf(options, config['schedule'] ?? before.schedule),
  };
  return { ...config, ...omitUndefined(given) };
}

/** A group of which no option speaks is as the file has it, and so is one that is none. */
function over(group: unknown, options: object): unknown {
  const given = omitUndefined(options);
  if (Object.keys(given).length === 0) return undefined;
  if (group !== undefined && !isObject(group)) return undefined;
  return { ...group, ...given };
}

/** Of the two parts, the one that is not given stays as it was. */
function scheduleOf({ schedule, timezone }: FlowOptions, before: unknown): unknown {
  if (schedule === 'none') return null;
  const given = over(before ?? undefined, { cron: schedule, timezone });
  if (isObject(given) && given['cron'] === undefined)
    throw new UsageError('--timezone is that of a schedule, and there is none.');
  return given;
}
