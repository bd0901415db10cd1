import { readDoctorConfig } from '../config/doctor-config.ts';
import { scheduleState } from '../core/flows/schedule-state.ts';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import { createPool, type Pool } from '../systems/postgres/client/pool.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createTemporal, type Temporal } from '../systems/temporal/client.ts';
import type { Schedules, TemporalIdentities } from './deps.ts';
import { CliError } from './format-error.ts';
import { rejectEarlierData } from './reject-earlier-data.ts';

/** Connects to Postgres and Temporal for the duration of one command. */
export const withTemporal = <T>(work: (identities: TemporalIdentities) => Promise<T>): Promise<T> =>
  withConnections(({ pool, temporal }) =>
    work({ ...createTemporalIdentityStore(pool), read: () => reached(temporal.identity()) }),
  );

export const withSchedules = <T>(work: (schedules: Schedules) => Promise<T>): Promise<T> =>
  withConnections(({ pool, encryptionKey, temporal }) =>
    work({
      findFlow: createFlowStore(pool, createSealer(encryptionKey)).find,
      async readState(flow) {
        const starts = await createScheduleStore(pool).listStarts(flow.flowId);
        return scheduleState(flow, starts, await reached(temporal.readScheduleTimes(flow.flowId)));
      },
    }),
  );

interface Connections {
  pool: Pool;
  encryptionKey: Parameters<typeof createSealer>[0];
  temporal: Temporal;
}

async function withConnections<T>(work: (connections: Connections) => Promise<T>): Promise<T> {
  const { databaseUrl, encryptionKey, instance, temporal: address } = readDoctorConfig();
  if (address === null) throw new CliError('TEMPORAL_ADDRESS is not set.');
  await rejectEarlierData(databaseUrl);
  const pool = createPool(databaseUrl, { applicationName: 'flowrun-cli', max: 1 });
  const temporal = createTemporal({ ...address, instance });
  try {
    return await work({ pool, encryptionKey, temporal });
  } finally {
    await Promise.all([pool.end(), temporal.close()]);
  }
}

async function reached<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      `Temporal cannot be reached: ${why}. Start it, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.`,
    );
  }
}
