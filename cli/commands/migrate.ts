import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { printRecord, write } from '../print.ts';

export function migrateCommand({ migrate }: CliDeps): Command {
  return new Command('migrate')
    .description('migrate the database to the current schema; safe to repeat')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      await migrate();
      if (options.json) printRecord({ migrated: true }, options);
      else write('The schema is up to date.');
    });
}
