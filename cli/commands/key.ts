import { userInfo } from 'node:os';
import { Command } from 'commander';
import { limits } from '../../core/limits.ts';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { futureDate, name, projectId, uuid, wholeNumber } from '../parse-options.ts';
import { note, printRecord, printTable, write } from '../print.ts';

export function keyCommand(world: CliDeps): Command {
  return new Command('key')
    .description('what callers of the API show')
    .addCommand(create(world))
    .addCommand(list(world))
    .addCommand(revoke(world));
}

interface NewKeyOptions {
  project: string;
  name: string;
  createdBy?: string;
  rpm?: number;
  expires?: Date;
  json?: true;
}

function create({ withStores }: CliDeps): Command {
  return new Command('create')
    .description('makes an API key and shows it, this once')
    .requiredOption('--project <project>', 'whose key it is', projectId)
    .requiredOption('--name <text>', 'what it is for', name)
    .option('--created-by <text>', 'who answers for it (default: you)', name)
    .option('--rpm <n>', 'calls a minute', wholeNumber(1, limits.keyRatePerMinuteMax))
    .option('--expires <date>', 'when it ends, in ISO 8601', futureDate)
    .option('--json', 'print JSON')
    .action((options: NewKeyOptions) =>
      withStores(async ({ projects, keys }) => {
        const { project, rpm, expires } = options;
        if ((await projects.find(project)) === null)
          throw new CliError(`There is no project ${project}.`);
        const { key, record } = await keys.create({
          projectId: project,
          name: options.name,
          createdBy: options.createdBy ?? userInfo().username,
          ...(rpm === undefined ? {} : { rateLimitRpm: rpm }),
          ...(expires === undefined ? {} : { expiresAt: expires }),
        });
        if (options.json) return printRecord({ key, ...record }, options);
        write(key);
        note(`Key ${record.keyId} of project ${project}. It is not shown again: keep it safe now.`);
      }),
    );
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('lists the keys of a project')
    .requiredOption('--project <project>', 'whose keys', projectId)
    .option('--json', 'print JSON')
    .action((options: { project: string; json?: true }) =>
      withStores(async ({ keys }) => {
        printTable(await keys.list(options.project), [...listedFields], options);
      }),
    );
}

const listedFields = [
  'keyId',
  'name',
  'createdBy',
  'shownPrefix',
  'state',
  'rateLimitRpm',
  'expiresAt',
  'lastUsedAt',
] as const;

function revoke({ withStores }: CliDeps): Command {
  return new Command('revoke')
    .description('ends a key at once and for good; runs that it started go on')
    .argument('<key-id>', 'its id, from the list', uuid)
    .option('--json', 'print JSON')
    .action((keyId: string, options: { json?: true }) =>
      withStores(async ({ keys }) => {
        const record = await keys.revoke(keyId);
        if (record === null) throw new CliError(`There is no key ${keyId}.`);
        printRecord(record, options);
      }),
    );
}
