import { Command } from 'commander';
import { answerCommand } from './commands/answer.ts';
import { applyCommand } from './commands/apply.ts';
import { chatCommand } from './commands/chat.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { diffCommand } from './commands/diff.ts';
import { exportCommand } from './commands/export.ts';
import { filesCommand } from './commands/files.ts';
import { listenCommand } from './commands/listen.ts';
import { contextCommand, loginCommand } from './commands/login.ts';
import { logsCommand } from './commands/logs.ts';
import { retryCommand } from './commands/retry.ts';
import { runCommand } from './commands/run.ts';
import { runsCommand } from './commands/runs.ts';
import { interruptCommand, stopCommand } from './commands/stop.ts';
import { usageCommand } from './commands/usage.ts';
import { addOperatorCommands } from './operators/operator-commands.ts';

/** Adds the commands that call the API, with a key or with an operator token. */
export function addRemoteCommands(program: Command): Command {
  return program
    .addCommand(loginCommand())
    .addCommand(contextCommand())
    .addCommand(runCommand())
    .addCommand(chatCommand())
    .addCommand(runsCommand())
    .addCommand(logsCommand())
    .addCommand(retryCommand())
    .addCommand(answerCommand())
    .addCommand(stopCommand())
    .addCommand(interruptCommand())
    .addCommand(filesCommand())
    .addCommand(diffCommand())
    .addCommand(usageCommand())
    .addCommand(listenCommand())
    .addCommand(applyCommand())
    .addCommand(exportCommand())
    .addCommand(completionCommand())
    .addCommand(completeCommand(), { hidden: true });
}

/** The command line that the service serves: without the commands that need the database. */
export function createRemoteProgram(version: string): Command {
  const program = new Command('flowrun')
    .description('Runs of flows on a Flowrun service.')
    .version(version)
    .addHelpText('after', remoteHelp);
  return addOperatorCommands(addRemoteCommands(program));
}

const remoteHelp = `
FLOWRUN_URL, FLOWRUN_KEY, FLOWRUN_TOKEN and FLOWRUN_PROJECT override the context. apply and export
need an operator token; apply --check exits with 3 if the service differs. Operators have more
commands on the machine of the service. Exit codes of run and logs -f: 0 completed, 1 failure,
2 wrong usage, 10 the agent failed, 11 stopped, 12 timed out or stalled, 13 budget or turns used up,
14 no slot or not started, 15 host lost, 130 detached by Ctrl-C.`;
