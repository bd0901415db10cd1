import { closeSync, constants, openSync, writeSync } from 'node:fs';

/** Appends a line for operators to the agent's stderr file. Ignores errors such as a full disk. */
export function note(stderrFile: string, text: string): void {
  try {
    const file = openSync(
      stderrFile,
      constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW,
    );
    writeSync(file, `entry: ${text}\n`);
    closeSync(file);
  } catch {
    // It cannot be reported anywhere else.
  }
}
