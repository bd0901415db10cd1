import { Command } from 'commander';
import { signInLink } from '../../core/sign-in.ts';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { name } from '../parse-options.ts';
import { note, printRecord, printTable, write } from '../print.ts';

export function operatorCommand(deps: CliDeps): Command {
  return new Command('operator')
    .description('manage operators, who administer all projects')
    .addCommand(add(deps))
    .addCommand(list(deps))
    .addCommand(remove(deps));
}

interface Output {
  json?: true;
}

function add({ withStores }: CliDeps): Command {
  return new Command('add')
    .description(
      'create an operator if needed, and a one-time sign-in link that is valid for 24 hours',
    )
    .argument('<name>', 'the operator’s name', name)
    .option('--json', 'print JSON')
    .action((operator: string, options: Output) =>
      withStores(async ({ change, publicUrl }) => {
        const { code, expiresAt } = await change((on) => on.inviteOperator(operator));
        const link = signInLink(publicUrl, code);
        if (options.json) return printRecord({ name: operator, link, expiresAt }, options);
        write(link);
        note(`Signs ${operator} in once. Valid until ${expiresAt.toISOString()}.`);
      }),
    );
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list all operators')
    .option('--json', 'print JSON')
    .action((options: Output) =>
      withStores(async ({ operators }) => {
        printTable(await operators.list(), ['name', 'createdAt', 'operatorId'], options);
      }),
    );
}

function remove({ withStores }: CliDeps): Command {
  return new Command('remove')
    .description('remove an operator and end its sessions')
    .argument('<name>', 'the operator’s name', name)
    .option('--json', 'print JSON')
    .action((operator: string, options: Output) =>
      withStores(async ({ change }) => {
        if (!(await change((on) => on.removeOperator(operator))))
          throw new CliError(`No such operator: ${operator}.`);
        if (options.json) printRecord({ name: operator, removed: true }, options);
        else note(`Removed operator ${operator}.`);
      }),
    );
}
