import { type Command, Option } from 'commander';
import type { Flow, NetworkPolicy } from '../../core/flow.ts';
import { limits } from '../../core/limits.ts';
import {
  allowedHost,
  cpus,
  fileText,
  instructions,
  memory,
  model,
  name,
  noneAsNull,
  type OrNone,
  orNone,
  prompt,
  wholeNumber,
} from '../values.ts';

/** What is decided about a flow, both when it is made and when it is changed. */
export interface FlowOptions {
  prompt?: string;
  promptFile?: string;
  instructionsFile?: string;
  model?: OrNone<string>;
  network?: NetworkPolicy;
  allowHost?: string[];
  memory?: number;
  cpus?: number;
  timeoutSeconds?: OrNone<number>;
  runner?: OrNone<string>;
  json?: true;
}

export function withFlowOptions(command: Command): Command {
  const policy = new Option('--network <policy>', 'what its runs may reach');
  const promptFile = new Option(
    '--prompt-file <path>',
    'the same, from a file; - is standard input',
  );
  const timeout = wholeNumber(1, limits.timeoutMaxSeconds);
  return command
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
    .option('--runner <host|none>', 'the id of the only host that may run it', orNone(name))
    .option('--json', 'print JSON');
}

type FlowFields = Partial<
  Pick<
    Flow,
    'prompt' | 'instructions' | 'model' | 'network' | 'resources' | 'timeoutSeconds' | 'runner'
  >
>;

/** The fields that options speak of; of a pair of which one is given, the other stays as it was. */
export function fieldsOf(
  options: FlowOptions,
  before: Pick<Flow, 'network' | 'resources'> = standard,
): FlowFields {
  const given = {
    prompt: options.prompt ?? options.promptFile,
    instructions: options.instructionsFile,
    model: noneAsNull(options.model),
    network: networkOf(options, before.network),
    resources: resourcesOf(options, before.resources),
    timeoutSeconds: noneAsNull(options.timeoutSeconds),
    runner: noneAsNull(options.runner),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const standard: Pick<Flow, 'network' | 'resources'> = {
  network: { policy: 'limited', allowedHosts: [] },
  resources: { memoryBytes: limits.sandboxMemoryBytes, cpus: limits.sandboxCpus },
};

function networkOf(options: FlowOptions, before: Flow['network']): Flow['network'] | undefined {
  if (options.network === undefined && options.allowHost === undefined) return undefined;
  return {
    policy: options.network ?? before.policy,
    allowedHosts: options.allowHost ?? before.allowedHosts,
  };
}

function resourcesOf(
  options: FlowOptions,
  before: Flow['resources'],
): Flow['resources'] | undefined {
  if (options.memory === undefined && options.cpus === undefined) return undefined;
  return { memoryBytes: options.memory ?? before.memoryBytes, cpus: options.cpus ?? before.cpus };
}
