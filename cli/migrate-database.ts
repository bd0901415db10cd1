import { readCliConfig } from '../config/cli-config.ts';
import { migrate } from '../systems/postgres/migrate.ts';

export async function migrateDatabase(): Promise<void> {
  await migrate(readCliConfig().databaseUrl);
}
