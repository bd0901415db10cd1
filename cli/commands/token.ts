import { Command } from 'commander';
import { defaultTokenExpiry, tokenExpiryError } from '../../core/keys/operator-tokens.ts';
import type { CliDeps } from '../deps.ts';
import { CliError, UsageError } from '../format-error.ts';
import { futureDate, name, tokenProject, uuid } from '../parse-options.ts';
import { note, printRecord, printTable, write } from '../print.ts';

export function tokenCommand(deps: CliDeps): Command {
  return new Command('token')
    .description('manage operator tokens for programs that call operator endpoints')
    .addCommand(create(deps))
    .addCommand(list(deps))
    .addCommand(revoke(deps));
}

interface NewTokenOptions {
  operator: string;
  name: string;
  project?: string[];
  expires?: Date;
  json?: true;
}

function create({ withStores }: CliDeps): Command {
  return new Command('create')
    .description('create an operator token; it is shown only once')
    .requiredOption('--operator <name>', 'the operator that the token acts as', name)
    .requiredOption('--name <text>', 'the purpose of the token', name)
    .option(
      '--project <project>',
      'limit the token to this project; repeatable (default: all projects)',
      tokenProject,
    )
    .option('--expires <date>', 'expiry date in ISO 8601 (default: in 90 days)', futureDate)
    .option('--json', 'print JSON')
    .action((options: NewTokenOptions) =>
      withStores(async ({ change }) => {
        const { operator, project, expires = defaultTokenExpiry(new Date()) } = options;
        const error = tokenExpiryError(expires, new Date());
        if (error !== null) throw new UsageError(`--expires: ${error}.`);
        const ofProjects = project === undefined ? {} : { projectIds: project };
        const fields = { operator, name: options.name, expiresAt: expires, ...ofProjects };
        const created = await change((on) => on.createOperatorToken(fields));
        if (created === null) throw new CliError(`No such operator: ${operator}.`);
        const { token, record } = created;
        if (options.json) return printRecord({ token, ...record }, options);
        write(token);
        const until = record.expiresAt.toISOString();
        note(`Token ${record.tokenId} acts as ${operator} until ${until}.`);
        note('It is not shown again: store it now.');
      }),
    );
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list valid operator tokens')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) =>
      withStores(async ({ operatorTokens }) => {
        printTable(await operatorTokens.list(), [...listedFields], options);
      }),
    );
}

const listedFields = [
  'tokenId',
  'name',
  'operator',
  'shownPrefix',
  'projectIds',
  'expiresAt',
] as const;

function revoke({ withStores }: CliDeps): Command {
  return new Command('revoke')
    .description('revoke an operator token permanently')
    .argument('<token-id>', 'its ID, see `flowrun token list`', uuid)
    .option('--json', 'print JSON')
    .action((tokenId: string, options: { json?: true }) =>
      withStores(async ({ change }) => {
        if (!(await change((on) => on.revokeOperatorToken(tokenId))))
          throw new CliError(`No such token: ${tokenId}.`);
        if (options.json) printRecord({ tokenId, revoked: true }, options);
        else note(`Revoked token ${tokenId}.`);
      }),
    );
}
