import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));

/**
 * Brings the schema up to date. Safe when several processes do it at once: the first holds an
 * advisory lock, the others wait and then find nothing to do.
 */
export async function migrate(url: string): Promise<void> {
  await runner({
    databaseUrl: url,
    dir: migrationsFolder,
    direction: 'up',
    migrationsTable: 'migrations',
    advisoryLockMode: 'wait',
    singleTransaction: true,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
}
