import { readCliConfig } from '../config/cli-config.ts';
import { migrate } from '../systems/postgres/schema/migrate.ts';

export async function migrateDatabase(): Promise<void> {
  await migrate(readCliConfig().databaseUrl);
}
