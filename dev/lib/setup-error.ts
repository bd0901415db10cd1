/** Something the reader has to do first: printed as it is, without a stack. */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** Ends the process with the message a person needs: the sentence alone, or the whole error. */
export function exitWithError(error: unknown): never {
  const text =
    error instanceof SetupError ? error.message : error instanceof Error ? error.stack : error;
  process.stderr.write(`\n${String(text)}\n`);
  process.exit(1);
}
