import { exitCodes, paths, timeouts } from './constants.ts';
import { startEntry } from './entry.ts';
import { note } from './stderr-note.ts';

// Agents kill processes by name, so this one must not be called node.
process.title = 'entry';

const entry = startEntry({ paths, timeouts });

process.on('SIGTERM', () => entry.terminate('SIGTERM'));
process.on('SIGINT', () => entry.terminate('SIGINT'));
// SIGUSR1 would open a debugger and SIGHUP end the program; the agent may send either by accident.
for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});

entry.ended.then(
  (code) => process.exit(code),
  (error: unknown) => {
    note(paths.stderrFile, `fatal: ${error instanceof Error ? error.stack : String(error)}`);
    process.exit(exitCodes.internal);
  },
);
