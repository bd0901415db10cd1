import type { Command } from 'commander';
import { formatError } from './format-error.ts';

/** Runs one command; the result is the exit code. */
export async function runProgram(program: Command, args: string[]): Promise<number> {
  try {
    await throwErrors(program).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { message, exitCode } = formatError(error);
    if (message !== '') process.stderr.write(`${message}\n`);
    return exitCode;
  }
}

// A reader such as `head` may close the pipe early; the command still completes.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Makes commander throw usage errors instead of exiting, in subcommands too. */
function throwErrors(command: Command): Command {
  command.exitOverride().showHelpAfterError('(use --help for usage)');
  for (const subCommand of command.commands) throwErrors(subCommand);
  return command;
}
