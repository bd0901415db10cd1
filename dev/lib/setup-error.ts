/** Names something the reader has to do first. Printed without a stack trace. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** Prints a SetupError's message, or any other error with its stack trace, and ends the process. */
export function exitWithError(error: unknown): never {
  const text =
    error instanceof SetupError ? error.message : error instanceof Error ? error.stack : error;
  process.stderr.write(`\n${String(text)}\n`);
  process.exit(1);
}
