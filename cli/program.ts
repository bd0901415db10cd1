import { Command } from 'commander';
import { backupCommand } from './commands/backup.ts';
import { doctorCommand } from './commands/doctor.ts';
import { flowCommand } from './commands/flow.ts';
import { hostCommand } from './commands/host.ts';
import { keyCommand } from './commands/key.ts';
import { migrateCommand } from './commands/migrate.ts';
import { operatorCommand } from './commands/operator.ts';
import { projectCommand } from './commands/project.ts';
import { restoreCommand } from './commands/restore.ts';
import type { CliDeps } from './deps.ts';

export function createProgram(world: CliDeps): Command {
  const program = new Command('flowrun')
    .description('Projects, flows, API keys, operators and hosts of the flow run service.')
    .addHelpText('after', environmentHelp)
    .addCommand(projectCommand(world))
    .addCommand(flowCommand(world))
    .addCommand(keyCommand(world))
    .addCommand(operatorCommand(world))
    .addCommand(hostCommand(world))
    .addCommand(doctorCommand(world))
    .addCommand(migrateCommand(world))
    .addCommand(backupCommand(world))
    .addCommand(restoreCommand(world));
  return throwing(program);
}

const environmentHelp = `
The database is the one of DATABASE_URL and ENCRYPTION_KEY (or DATABASE_URL_FILE,
ENCRYPTION_KEY_FILE); where neither is set, that of the local stack. The doctor also looks at what
REDIS_URL, TEMPORAL_ADDRESS, DOCKER_HOST, SANDBOX_IMAGE, DATA_DIR and PUBLIC_URL name.
Every command takes --json. Exit codes: 0 done, 1 could not be done, 2 wrong usage.`;

/** Instead of ending the process, errors of usage are thrown, by sub-commands too. */
function throwing(command: Command): Command {
  command.exitOverride().showHelpAfterError('(add --help for what it takes)');
  for (const subCommand of command.commands) throwing(subCommand);
  return command;
}
