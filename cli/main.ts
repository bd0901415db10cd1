import type { CliDeps } from './deps.ts';
import { formatError } from './format-error.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command; the result is the exit code: 0 for success, 1 for failure, 2 for wrong usage.
 */
export async function main(args: string[]): Promise<number> {
  try {
    await createProgram(deps).parseAsync(args, { from: 'user' });
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

/** Modules load on demand, so that help and usage errors are fast. */
const deps: CliDeps = {
  async loadValidators() {
    return (await import('./validators.ts')).validators;
  },
  async withStores(work) {
    const { withStores } = await import('./open-stores.ts');
    return withStores(work);
  },
  async withTemporal(work) {
    const { withTemporal } = await import('./open-temporal.ts');
    return withTemporal(work);
  },
  async withDoctor(work) {
    const { withDoctor } = await import('./open-doctor.ts');
    return withDoctor(work);
  },
  async migrate() {
    const { migrateDatabase } = await import('./migrate-database.ts');
    await migrateDatabase();
  },
  async createInitialResources() {
    const { readInitialResources } = await import('../config/initial-resources-config.ts');
    const wanted = readInitialResources();
    if (wanted === null) return [];
    const { createInitialResources } = await import('./create-initial-resources.ts');
    const validators = await deps.loadValidators();
    return deps.withStores((stores) => createInitialResources(stores, wanted, validators));
  },
  async backups() {
    return (await import('./backups.ts')).backups;
  },
};
