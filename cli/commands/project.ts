import { Command, Option } from 'commander';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { CliDeps } from '../deps.ts';
import { CliError, UsageError } from '../format-error.ts';
import {
  fileText,
  modelBaseUrl,
  modelKey,
  monthlyBudgetUsd,
  name,
  noneAsNull,
  type OrNone,
  orNone,
  projectId,
  wholeNumber,
} from '../parse-options.ts';
import { printRecord, printTable } from '../print.ts';
import { setProjectArchived } from './archive-project.ts';
import { nothingToUpdate } from './require-change.ts';
import { readWebhookSecrets, rotateSecret } from './webhook-secret.ts';

export function projectCommand(deps: CliDeps): Command {
  return new Command('project')
    .description('manage projects, their limits and their webhook secret')
    .addCommand(create(deps))
    .addCommand(list(deps))
    .addCommand(set(deps))
    .addCommand(setProjectArchived(deps, { verb: 'archive', isArchived: true }))
    .addCommand(setProjectArchived(deps, { verb: 'restore', isArchived: false }))
    .addCommand(webhookSecret(deps));
}

interface Output {
  json?: true;
}

function create({ withStores, loadValidators }: CliDeps): Command {
  const command = new Command('create')
    .description('create a project')
    .argument('<project>', 'its ID', projectId)
    .option('--name <text>', 'display name (default: its ID)', name);
  return withLimits(command).action(async (id: string, options: ProjectLimits) => {
    const fields = (await loadValidators()).newProject({ projectId: id, ...limitsOf(options) });
    await withStores(async ({ change }) => {
      const project = await change((on) => on.createProject(fields));
      if (project === null) throw new CliError(`The project ${id} already exists.`);
      printRecord(project, options);
    });
  });
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list all projects')
    .option('--archived', 'list the archived projects instead of those in use')
    .option('--json', 'print JSON')
    .action((options: Output & { archived?: true }) =>
      withStores(async ({ projects }) => {
        const fields = [
          'projectId',
          'name',
          'maxConcurrentRuns',
          'maxOpenSessions',
          'monthlyRunQuota',
          'monthlyBudgetUsd',
          'storageQuotaBytes',
          'createdAt',
        ] as const;
        printTable(await projects.list(options.archived), [...fields], options);
      }),
    );
}

interface ProjectLimits extends Output {
  name?: string;
  maxConcurrentRuns?: number;
  maxOpenSessions?: number;
  monthlyRunQuota?: OrNone<number>;
  monthlyBudgetUsd?: OrNone<number>;
  storageQuotaBytes?: OrNone<number>;
}

interface Settings extends ProjectLimits {
  ownModelKeyFile?: OrNone<string>;
  ownModelBaseUrl?: string;
}

function withLimits(command: Command): Command {
  const count = wholeNumber(0, limits.project.runsMax);
  return command
    .option('--max-concurrent-runs <n>', 'limit of concurrent runs', count)
    .option(
      '--max-open-sessions <n>',
      'limit of sessions that have not ended',
      wholeNumber(0, limits.project.sessionsMax),
    )
    .option('--monthly-run-quota <n|none>', 'limit of runs per month', orNone(count))
    .option(
      '--monthly-budget-usd <n|none>',
      'maximum cost of the model calls in a month',
      orNone(monthlyBudgetUsd),
    )
    .option(
      '--storage-quota-bytes <n|none>',
      'limit of stored files, transcripts, logs, prompts, messages and results',
      orNone(wholeNumber(0, limits.project.storageMaxBytes)),
    )
    .option('--json', 'print JSON');
}

const limitsOf = (options: ProjectLimits) =>
  omitUndefined({
    name: options.name,
    maxConcurrentRuns: options.maxConcurrentRuns,
    maxOpenSessions: options.maxOpenSessions,
    monthlyRunQuota: noneAsNull(options.monthlyRunQuota),
    monthlyBudgetUsd: noneAsNull(options.monthlyBudgetUsd),
    storageQuotaBytes: noneAsNull(options.storageQuotaBytes),
  });

function set({ withStores, loadValidators }: CliDeps): Command {
  const command = new Command('set')
    .description('change the settings of a project')
    .argument('<project>', 'its ID', projectId)
    .option('--name <text>', 'display name', name)
    .option(
      '--own-model-key-file <path|none>',
      'file with the project’s own model API key; - is standard input; none: use the service’s key',
      orNone((path) => modelKey(fileText(path).trim())),
    )
    .option('--own-model-base-url <url>', 'URL of the model API for that key', modelBaseUrl);
  return withLimits(command).action(async (id: string, options: Settings) => {
    const body = omitUndefined({ ...limitsOf(options), model: modelOf(options) });
    if (Object.keys(body).length === 0) throw nothingToUpdate('project set');
    const patch = (await loadValidators()).projectPatch(body);
    await withStores(async ({ change }) => {
      const project = await change((on) => on.changeSettings(id, patch));
      if (project === null) throw new CliError(`No such project: ${id}.`);
      printRecord(project, options);
    });
  });
}

/** A key and its URL are set together, so that a key is never sent to another URL. */
function modelOf({ ownModelKeyFile, ownModelBaseUrl }: Settings) {
  const apiKey = noneAsNull(ownModelKeyFile);
  if (apiKey === undefined && ownModelBaseUrl === undefined) return undefined;
  if (apiKey === null && ownModelBaseUrl === undefined) return null;
  if (typeof apiKey === 'string' && ownModelBaseUrl !== undefined)
    return { apiKey, baseUrl: ownModelBaseUrl };
  throw new UsageError('--own-model-key-file and --own-model-base-url must be used together.');
}

interface SecretOptions extends Output {
  next?: true;
  rotate?: true;
  now?: true;
}

function webhookSecret({ withStores }: CliDeps): Command {
  const next = new Option('--next', 'begin a rotation: also sign with a second secret');
  return new Command('webhook-secret')
    .description('show the secret that verifies a project’s webhooks')
    .argument('<project>', 'its ID', projectId)
    .addOption(next.conflicts('rotate'))
    .option('--rotate', 'replace it with the next one, from the next attempt on')
    .option('--now', 'with --rotate: replace it, and the next one, by a new one at once')
    .option('--json', 'print JSON')
    .action((id: string, options: SecretOptions) => {
      if (options.now && !options.rotate) throw new UsageError('--now must be used with --rotate.');
      return withStores(async ({ projects, change }) => {
        if ((await projects.find(id)) === null) throw new CliError(`No such project: ${id}.`);
        if (options.rotate)
          await rotateSecret(change, id, { ...options, atOnce: '--rotate --now' });
        if (options.next) await change((on) => on.prepareWebhookSecret(id));
        printRecord(await readWebhookSecrets({ projects }, id), options);
      });
    });
}
