import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { printRecord, write } from '../print.ts';

export function migrateCommand({ migrate, createInitialResources }: CliDeps): Command {
  return new Command('migrate')
    .description(
      'migrate the database to the current schema, and create the project, flow and key that the INIT_ settings name; safe to repeat',
    )
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      await migrate();
      const created = await createInitialResources();
      if (options.json) return printRecord({ migrated: true, created }, options);
      write(['The schema is up to date.', ...created].join('\n'));
    });
}
