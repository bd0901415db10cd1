import { Command } from 'commander';
import { CliError } from '../explain.ts';
import { printRecord, printTable } from '../print.ts';
import type { World } from '../stores.ts';
import { name, noneAsNull, type OrNone, orNone, projectId, wholeNumber } from '../values.ts';

export function projectCommand(world: World): Command {
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

function create({ withStores }: World): Command {
  return new Command('create')
    .description('makes a project')
    .argument('<project>', 'its id', projectId)
    .option('--name <text>', 'what people call it (default: its id)', name)
    .option('--json', 'print JSON')
    .action((id: string, options: Output & { name?: string }) =>
      withStores(async ({ projects }) => {
        const project = await projects.create({ projectId: id, name: options.name ?? id });
        if (project === null) throw new CliError(`There is a project ${id} already.`);
        printRecord(project, options);
      }),
    );
}

function list({ withStores }: World): Command {
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

const atMost = 1_000_000;

interface Bounds extends Output {
  maxConcurrentRuns?: number;
  monthlyRunQuota?: OrNone<number>;
}

function set({ withStores }: World): Command {
  const count = wholeNumber(0, atMost);
  return new Command('set')
    .description('changes what a project may do')
    .argument('<project>', 'its id', projectId)
    .option('--max-concurrent-runs <n>', 'how many of its runs go on at once', count)
    .option('--monthly-run-quota <n|none>', 'how many it may start a month', orNone(count))
    .option('--json', 'print JSON')
    .action((id: string, options: Bounds) =>
      withStores(async ({ projects }) => {
        const project = await projects.update(id, patchOf(options));
        if (project === null) throw new CliError(`There is no project ${id}.`);
        printRecord(project, options);
      }),
    );
}

/** What is not given stays as it is. */
function patchOf({ maxConcurrentRuns, monthlyRunQuota }: Bounds) {
  const quota = noneAsNull(monthlyRunQuota);
  return {
    ...(maxConcurrentRuns === undefined ? {} : { maxConcurrentRuns }),
    ...(quota === undefined ? {} : { monthlyRunQuota: quota }),
  };
}

function webhookSecret({ withStores }: World): Command {
  return new Command('webhook-secret')
    .description('shows the secret with which receivers verify a project’s webhooks')
    .argument('<project>', 'its id', projectId)
    .option('--json', 'print JSON')
    .action((id: string, options: Output) =>
      withStores(async ({ projects }) => {
        if ((await projects.find(id)) === null) throw new CliError(`There is no project ${id}.`);
        printRecord({ webhookSecret: await projects.ensureWebhookSecret(id) }, options);
      }),
    );
}
