import { Command } from 'commander';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { CliDeps } from '../deps.ts';
import { CliError, UsageError } from '../format-error.ts';
import {
  fileText,
  modelBaseUrl,
  modelKey,
  name,
  noneAsNull,
  type OrNone,
  orNone,
  projectId,
  wholeNumber,
} from '../parse-options.ts';
import { printRecord, printTable } from '../print.ts';
import { nothingToChange } from './require-change.ts';

export function projectCommand(world: CliDeps): Command {
  return new Command('project')
    .description('who triggers runs, and within which bounds')
    .addCommand(create(world))
    .addCommand(list(world))
    .addCommand(set(world))
    .addCommand(webhookSecret(world));
}

interface Output {
  json?: true;
}

function create({ withStores, loadValidators: loadRules }: CliDeps): Command {
  const command = new Command('create')
    .description('makes a project')
    .argument('<project>', 'its id', projectId)
    .option('--name <text>', 'what people call it (default: its id)', name);
  return withBounds(command).action(async (id: string, options: Bounds) => {
    const fields = (await loadRules()).newProject({ projectId: id, ...boundsOf(options) });
    await withStores(async ({ projects }) => {
      const project = await projects.create(fields);
      if (project === null) throw new CliError(`There is a project ${id} already.`);
      printRecord(project, options);
    });
  });
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('lists all projects')
    .option('--json', 'print JSON')
    .action((options: Output) =>
      withStores(async ({ projects }) => {
        const fields = [
          'projectId',
          'name',
          'maxConcurrentRuns',
          'monthlyRunQuota',
          'createdAt',
        ] as const;
        printTable(await projects.list(), [...fields], options);
      }),
    );
}

interface Bounds extends Output {
  name?: string;
  maxConcurrentRuns?: number;
  monthlyRunQuota?: OrNone<number>;
}

interface Settings extends Bounds {
  ownModelKeyFile?: OrNone<string>;
  ownModelBaseUrl?: string;
}

function withBounds(command: Command): Command {
  const count = wholeNumber(0, limits.projectRunsMax);
  return command
    .option('--max-concurrent-runs <n>', 'how many of its runs go on at once', count)
    .option('--monthly-run-quota <n|none>', 'how many it may start a month', orNone(count))
    .option('--json', 'print JSON');
}

const boundsOf = ({ name: title, maxConcurrentRuns, monthlyRunQuota }: Bounds) =>
  omitUndefined({
    name: title,
    maxConcurrentRuns,
    monthlyRunQuota: noneAsNull(monthlyRunQuota),
  });

function set({ withStores, loadValidators: loadRules }: CliDeps): Command {
  const command = new Command('set')
    .description('changes what a project may do')
    .argument('<project>', 'its id', projectId)
    .option('--name <text>', 'what people call it', name)
    .option(
      '--own-model-key-file <path|none>',
      'its own key for the model API, from a file; - is standard input; none: the service’s',
      orNone((path) => modelKey(fileText(path).trim())),
    )
    .option('--own-model-base-url <url>', 'where that key is good', modelBaseUrl);
  return withBounds(command).action(async (id: string, options: Settings) => {
    const body = omitUndefined({ ...boundsOf(options), model: modelOf(options) });
    if (Object.keys(body).length === 0) throw nothingToChange('project set');
    const patch = (await loadRules()).projectPatch(body);
    await withStores(async ({ projects }) => {
      const project = await projects.update(id, patch);
      if (project === null) throw new CliError(`There is no project ${id}.`);
      printRecord(project, options);
    });
  });
}

/** The key and the address come together: a key is never sent to an address it was not given for. */
function modelOf({ ownModelKeyFile, ownModelBaseUrl }: Settings) {
  const apiKey = noneAsNull(ownModelKeyFile);
  if (apiKey === undefined && ownModelBaseUrl === undefined) return undefined;
  if (apiKey === null && ownModelBaseUrl === undefined) return null;
  if (typeof apiKey === 'string' && ownModelBaseUrl !== undefined)
    return { apiKey, baseUrl: ownModelBaseUrl };
  throw new UsageError('--own-model-key-file and --own-model-base-url are given together.');
}

function webhookSecret({ withStores }: CliDeps): Command {
  return new Command('webhook-secret')
    .description('shows the secret with which receivers verify a project’s webhooks')
    .argument('<project>', 'its id', projectId)
    .option('--rotate', 'puts another in its place, from the next attempt on')
    .option('--json', 'print JSON')
    .action((id: string, options: Output & { rotate?: true }) =>
      withStores(async ({ projects }) => {
        if ((await projects.find(id)) === null) throw new CliError(`There is no project ${id}.`);
        const secret = options.rotate
          ? await projects.rotateWebhookSecret(id)
          : await projects.ensureWebhookSecret(id);
        printRecord({ webhookSecret: secret }, options);
      }),
    );
}
