import type { CliDeps } from './deps.ts';
import { uuid } from './parse-options.ts';
import { createProgram } from './program.ts';
import { runProgram } from './run-program.ts';

/** The command line with all commands; the result is the exit code. */
export function main(args: string[]): Promise<number> {
  return runProgram(createProgram(deps), args);
}

/** Modules load on demand, so that help and usage errors are fast. */
const deps: CliDeps = {
  parseReference: uuid,
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
  async withSchedules(work) {
    const { withSchedules } = await import('./open-temporal.ts');
    return withSchedules(work);
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
    const { createInitialResources, fromSettings } = await import('./create-initial-resources.ts');
    const validators = await deps.loadValidators();
    return deps.withStores((stores) =>
      createInitialResources(stores, wanted, { validators, origin: fromSettings }),
    );
  },
  async backups() {
    return (await import('./backups.ts')).backups;
  },
};
