import { readCliConfig } from '../config/cli-config.ts';
import { processActor } from '../lib/process-actor.ts';
import { createAuditLog } from '../systems/postgres/accounts/audit-log.ts';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createFlowVersionStore } from '../systems/postgres/accounts/flow-version-store.ts';
import { lockInitialResources } from '../systems/postgres/accounts/initial-resources-lock.ts';
import { createKeyStore } from '../systems/postgres/accounts/key-store.ts';
import { createOperatorStore } from '../systems/postgres/accounts/operator-store.ts';
import { createOperatorTokenStore } from '../systems/postgres/accounts/operator-token-store.ts';
import { createProjectStore } from '../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import { createPool } from '../systems/postgres/client/pool.ts';
import { derivedToken } from '../systems/postgres/client/random-token.ts';
import { createEndpointStore } from '../systems/postgres/endpoints/endpoint-store.ts';
import { createEventStore } from '../systems/postgres/endpoints/event-store.ts';
import { createHostStore } from '../systems/postgres/hosts/host-store.ts';
import { checkRunner } from './commands/check-runner.ts';
import type { Stores } from './deps.ts';
import { rejectEarlierData } from './reject-earlier-data.ts';

/** Connects for the duration of one command. */
export async function withStores<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
  const config = readCliConfig();
  await rejectEarlierData(config.databaseUrl);
  const pool = createPool(config.databaseUrl, { applicationName: 'flowrun-cli', max: 1 });
  const sealer = createSealer(config.encryptionKey);
  const hosts = createHostStore(pool);
  try {
    return await work({
      projects: createProjectStore(pool, sealer),
      flows: createFlowStore(pool, sealer),
      flowVersions: createFlowVersionStore(pool),
      keys: createKeyStore(pool),
      operators: createOperatorStore(pool),
      operatorTokens: createOperatorTokenStore(pool),
      hosts,
      checkRunner: (runner) => checkRunner(hosts, runner),
      endpoints: createEndpointStore(pool),
      events: createEventStore(pool, sealer),
      change: (change, source = 'command_line') =>
        createAuditLog(pool, sealer).changeAs(processActor(source), change),
      publicUrl: config.publicUrl,
      apiUrl: config.apiUrl,
      firstOperator: config.firstOperator,
      deriveKey: (purpose) => `frs_${derivedToken(config.encryptionKey, purpose)}`,
      modelPrices: config.modelPrices,
      webhookAllowPrivate: config.webhookAllowPrivate,
      lockInitialResources: () => lockInitialResources(pool),
    });
  } finally {
    await pool.end();
  }
}
