import { readDoctorConfig } from '../config/doctor-config.ts';
import { createPool } from '../systems/postgres/client/pool.ts';
import { createTemporalIdentityStore } from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createTemporal, type Temporal } from '../systems/temporal/client.ts';
import type { TemporalIdentities } from './deps.ts';
import { CliError } from './format-error.ts';
import { rejectEarlierData } from './reject-earlier-data.ts';

/** Connects to Postgres and Temporal for the duration of one command. */
export async function withTemporal<T>(
  work: (identities: TemporalIdentities) => Promise<T>,
): Promise<T> {
  const { databaseUrl, instance, temporal: address } = readDoctorConfig();
  if (address === null) throw new CliError('TEMPORAL_ADDRESS is not set.');
  await rejectEarlierData(databaseUrl);
  const pool = createPool(databaseUrl, { applicationName: 'flowrun-cli', max: 1 });
  const temporal = createTemporal({ ...address, instance });
  try {
    return await work({ ...createTemporalIdentityStore(pool), read: () => read(temporal) });
  } finally {
    await Promise.all([pool.end(), temporal.close()]);
  }
}

async function read({ identity }: Temporal): ReturnType<Temporal['identity']> {
  try {
    return await identity();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      `Temporal cannot be reached: ${why}. Start it, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.`,
    );
  }
}
