import type { CliDeps } from './deps.ts';
import { formatError } from './format-error.ts';
import { createProgram } from './program.ts';

/** Runs one command line; the result is the exit code: 0, 1 for trouble, 2 for wrong usage. */
export async function main(args: string[]): Promise<number> {
  try {
    await createProgram(world).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { message, exitCode } = formatError(error);
    if (message !== '') process.stderr.write(`${message}\n`);
    return exitCode;
  }
}

// Whoever reads may have seen enough; what was begun is still done.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Loaded when a command needs it, so that help and errors of usage come at once. */
const world: CliDeps = {
  async loadValidators() {
    return (await import('./validators.ts')).validators;
  },
  async withStores(work) {
    const { withStores } = await import('./open-stores.ts');
    return withStores(work);
  },
  async withDoctor(work) {
    const { withDoctor } = await import('./open-doctor.ts');
    return withDoctor(work);
  },
  async migrate() {
    const { migrateDatabase } = await import('./migrate-database.ts');
    await migrateDatabase();
  },
  async backups() {
    return (await import('./backups.ts')).backups;
  },
};
