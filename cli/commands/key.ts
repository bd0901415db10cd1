import { userInfo } from 'node:os';
import { Command } from 'commander';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import {
  futureDate,
  keyScope,
  monthlyBudgetUsd,
  name,
  noneAsNull,
  type OrNone,
  orNone,
  projectId,
  wholeNumber,
} from '../parse-options.ts';
import { note, printRecord, printTable, write } from '../print.ts';
import { nothingToUpdate } from './require-change.ts';

export function keyCommand(deps: CliDeps): Command {
  return new Command('key')
    .description('manage API keys')
    .addCommand(create(deps))
    .addCommand(list(deps))
    .addCommand(set(deps))
    .addCommand(revoke(deps));
}

interface NewKeyOptions {
  project: string;
  name: string;
  createdBy?: string;
  rpm?: number;
  expires?: Date;
  scope?: string[];
  monthlyBudgetUsd?: OrNone<number>;
  json?: true;
}

const budgetOption = [
  '--monthly-budget-usd <n|none>',
  'maximum cost of the runs that it has started, in a month',
  orNone(monthlyBudgetUsd),
] as const;

function create({ withStores }: CliDeps): Command {
  return new Command('create')
    .description('create an API key; it is shown only once')
    .requiredOption('--project <project>', 'the project of the key', projectId)
    .requiredOption('--name <text>', 'the purpose of the key', name)
    .option('--created-by <text>', 'the person responsible (default: your user name)', name)
    .option('--rpm <n>', 'requests per minute', wholeNumber(1, limits.key.ratePerMinuteMax))
    .option('--expires <date>', 'expiry date in ISO 8601', futureDate)
    .option(
      '--scope <scope>',
      'limit the key to `read`, `run`, `chat` or `flow:<id>`; repeatable (default: no limit)',
      keyScope,
    )
    .option(...budgetOption)
    .option('--json', 'print JSON')
    .action((options: NewKeyOptions) =>
      withStores(async ({ projects, flows, change, publicUrl }) => {
        const { project, rpm, expires, scope } = options;
        if ((await projects.find(project)) === null)
          throw new CliError(`No such project: ${project}.`);
        const fields = {
          projectId: project,
          name: options.name,
          createdBy: options.createdBy ?? userInfo().username,
          ...(rpm === undefined ? {} : { rateLimitRpm: rpm }),
          ...(expires === undefined ? {} : { expiresAt: expires }),
          ...(scope === undefined ? {} : { scopes: scope }),
          ...omitUndefined({ monthlyBudgetUsd: noneAsNull(options.monthlyBudgetUsd) }),
        };
        const { key, record } = await change((on) => on.createKey(fields));
        if (options.json) return printRecord({ key, ...record }, options);
        write(key);
        note(`Key ${record.keyId} of project ${project}. It is not shown again: store it now.`);
        const { flows: found } = await flows.listByProject(project, { limit: 1, maxBytes: 1 });
        note(`Try it:\n${exampleRequest({ publicUrl, key, flowId: found[0]?.flowId })}`);
      }),
    );
}

/**
 * A request that works as it is: triggers a run of the project's first flow, or lists the flows.
 */
export function exampleRequest({
  publicUrl,
  key,
  flowId,
}: {
  publicUrl: string;
  key: string;
  flowId?: string | undefined;
}): string {
  const auth = `-H 'Authorization: Bearer ${key}'`;
  if (flowId === undefined) return `  curl ${auth} \\\n    ${publicUrl}/api/v1/flows`;
  const body = `-H 'Content-Type: application/json' -d '{"prompt": "Write hello.md"}'`;
  return `  curl ${auth} \\\n    ${body} \\\n    ${publicUrl}/api/v1/flows/${flowId}/runs`;
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list the keys of a project')
    .requiredOption('--project <project>', 'the project', projectId)
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
  'scopes',
  'monthlyBudgetUsd',
  'expiresAt',
  'lastUsedAt',
] as const;

function set({ withStores, parseReference }: CliDeps): Command {
  return new Command('set')
    .description('change the monthly budget of a key')
    .argument('<key-id>', 'its ID, see `flowrun key list`', parseReference)
    .option(...budgetOption)
    .option('--json', 'print JSON')
    .action(async (keyId: string, options: { monthlyBudgetUsd?: OrNone<number>; json?: true }) => {
      const patch = omitUndefined({ monthlyBudgetUsd: noneAsNull(options.monthlyBudgetUsd) });
      if (Object.keys(patch).length === 0) throw nothingToUpdate('key set');
      await withStores(async ({ change }) => {
        const key = await change((on) => on.changeKey(keyId, patch));
        if (key === null) throw new CliError(`No such key: ${keyId}.`);
        printRecord(key, options);
      });
    });
}

function revoke({ withStores, parseReference }: CliDeps): Command {
  return new Command('revoke')
    .description('revoke a key permanently; its runs continue')
    .argument('<key-id>', 'its ID, see `flowrun key list`', parseReference)
    .option('--json', 'print JSON')
    .action((keyId: string, options: { json?: true }) =>
      withStores(async ({ keys, change }) => {
        const found = await keys.find(keyId);
        if (found === null) throw new CliError(`No such key: ${keyId}.`);
        await change((on) => on.revokeKey(found));
        printRecord((await keys.find(keyId)) ?? found, options);
      }),
    );
}
