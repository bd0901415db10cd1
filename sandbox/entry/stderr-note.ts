import { closeSync, constants, openSync, writeSync } from 'node:fs';

/** A line for the operator beside the agent's own errors; a full disk must not end the sandbox. */
export function note(stderrFile: string, text: string): void {
  try {
    const file = openSync(
      stderrFile,
      constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW,
    );
    writeSync(file, `entry: ${text}\n`);
    closeSync(file);
  } catch {
    // There is nowhere else to say it.
  }
}
