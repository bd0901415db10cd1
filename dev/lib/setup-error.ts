import { CommandError } from './run-command.ts';

/** Names something the reader has to do first. Printed without a stack trace. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/**
 * Prints the message of a SetupError or of a failed command, whose output explains it, or any other
 * error with its stack trace. Ends the process.
 */
export function exitWithError(error: unknown): never {
  process.stderr.write(`\n${textOf(error)}\n`);
  process.exit(1);
}

function textOf(error: unknown): string {
  if (error instanceof SetupError || error instanceof CommandError) return error.message;
  return String(error instanceof Error ? error.stack : error);
}
