import { Command } from 'commander';
import { signInLink } from '../../core/sign-in.ts';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { name } from '../parse-options.ts';
import { note, printRecord, printTable, write } from '../print.ts';

export function operatorCommand(world: CliDeps): Command {
  return new Command('operator')
    .description('who may sign in and decide about all projects')
    .addCommand(add(world))
    .addCommand(list(world))
    .addCommand(remove(world));
}

interface Output {
  json?: true;
}

function add({ withStores }: CliDeps): Command {
  return new Command('add')
    .description('makes an operator, if need be, and a link that signs in once, within 24 hours')
    .argument('<name>', 'who it is', name)
    .option('--json', 'print JSON')
    .action((operator: string, options: Output) =>
      withStores(async ({ operators, publicUrl }) => {
        const { code, expiresAt } = await operators.invite(operator);
        const link = signInLink(publicUrl, code);
        if (options.json) return printRecord({ name: operator, link, expiresAt }, options);
        write(link);
        note(`Signs ${operator} in, once, until ${expiresAt.toISOString()}.`);
      }),
    );
}

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('lists all operators')
    .option('--json', 'print JSON')
    .action((options: Output) =>
      withStores(async ({ operators }) => {
        printTable(await operators.list(), ['name', 'createdAt', 'operatorId'], options);
      }),
    );
}

function remove({ withStores }: CliDeps): Command {
  return new Command('remove')
    .description('removes an operator; whoever is signed in by that name is out at once')
    .argument('<name>', 'who it is', name)
    .option('--json', 'print JSON')
    .action((operator: string, options: Output) =>
      withStores(async ({ operators }) => {
        if (!(await operators.remove(operator)))
          throw new CliError(`There is no operator ${operator}.`);
        if (options.json) printRecord({ name: operator, removed: true }, options);
        else note(`${operator} is no operator any more.`);
      }),
    );
}
