import { Command } from 'commander';
import { temporalCommand } from './commands/adopt-temporal.ts';
import { backupCommand } from './commands/backup.ts';
import { doctorCommand } from './commands/doctor.ts';
import { flowCommand } from './commands/flow.ts';
import { hostCommand } from './commands/host.ts';
import { keyCommand } from './commands/key.ts';
import { migrateCommand } from './commands/migrate.ts';
import { operatorCommand } from './commands/operator.ts';
import { projectCommand } from './commands/project.ts';
import { restoreCommand } from './commands/restore.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { tokenCommand } from './commands/token.ts';
import { webhooksCommand } from './commands/webhook-endpoints.ts';
import type { CliDeps } from './deps.ts';
import { helloCommand } from './hello/hello-command.ts';
import { addRemoteCommands } from './remote/remote-program.ts';

export function createProgram(deps: CliDeps): Command {
  const program = new Command('flowrun')
    .description('Flowrun: runs of flows, and the administration of the service.')
    .addHelpText('after', environmentHelp);
  return addRemoteCommands(program)
    .commandsGroup('Administration, with the database:')
    .addCommand(helloCommand(deps))
    .addCommand(projectCommand(deps))
    .addCommand(flowCommand(deps))
    .addCommand(scheduleCommand(deps))
    .addCommand(keyCommand(deps))
    .addCommand(operatorCommand(deps))
    .addCommand(tokenCommand(deps))
    .addCommand(webhooksCommand(deps))
    .addCommand(hostCommand(deps))
    .addCommand(temporalCommand(deps))
    .addCommand(doctorCommand(deps))
    .addCommand(migrateCommand(deps))
    .addCommand(backupCommand(deps))
    .addCommand(restoreCommand(deps));
}

const environmentHelp = `
Commands for runs need flowrun login, or FLOWRUN_URL and FLOWRUN_KEY. For the others, the
database is set by DATABASE_URL and ENCRYPTION_KEY, or by DATABASE_URL_FILE and
ENCRYPTION_KEY_FILE; if neither is set, the local stack is used. The doctor also reads
REDIS_URL, TEMPORAL_ADDRESS, DOCKER_HOST, SANDBOX_IMAGE, DATA_DIR and PUBLIC_URL.
Every command accepts --json. Exit codes: 0 success, 1 failure, 2 wrong usage.`;
