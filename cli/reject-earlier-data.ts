import { findEarlierData } from '../systems/postgres/schema/earlier-data.ts';
import { CliError } from './format-error.ts';

/** Every command that opens the database calls this first. */
export async function rejectEarlierData(databaseUrl: string): Promise<void> {
  const found = await findEarlierData(databaseUrl);
  if (found !== null) throw new CliError(found);
}
