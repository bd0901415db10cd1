import { Command } from 'commander';
import { flowCommand } from './commands/flow.ts';
import { keyCommand } from './commands/key.ts';
import { migrateCommand } from './commands/migrate.ts';
import { projectCommand } from './commands/project.ts';
import type { World } from './stores.ts';

export function createProgram(world: World): Command {
  const program = new Command('flowrun')
    .description('Projects, flows and API keys of the flow run service.')
    .addHelpText('after', environmentHelp)
    .addCommand(projectCommand(world))
    .addCommand(flowCommand(world))
    .addCommand(keyCommand(world))
    .addCommand(migrateCommand(world));
  return throwing(program);
}

const environmentHelp = `
The database is the one of DATABASE_URL and ENCRYPTION_KEY (or DATABASE_URL_FILE,
ENCRYPTION_KEY_FILE); where neither is set, that of the local stack.
Every command takes --json. Exit codes: 0 done, 1 could not be done, 2 wrong usage.`;

/** Instead of ending the process, errors of usage are thrown, by sub-commands too. */
function throwing(command: Command): Command {
  command.exitOverride().showHelpAfterError('(add --help for what it takes)');
  for (const subCommand of command.commands) throwing(subCommand);
  return command;
}
