import { expect, test } from 'vitest';
import { createReadiness } from '../../../api/http/readiness.ts';
import { createLogger } from '../../../config/logger.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';

test('reports hosts until they are lost', async () => {
  const host = { draining: false, report: null };
  const hosts = [4_000, 5_000].map((msSinceHeartbeat) => ({ ...host, msSinceHeartbeat }) as Host); // no other member is used
  const readiness = createReadiness({
    checks: {},
    facts: { clockAheadMs: async () => 0, hosts: async () => hosts },
    hostLostMs: 5_000,
    postgresDisk: { last: () => null, isShort: () => false },
    logger: createLogger({ level: 'silent', name: 'test' }),
  });
  expect((await readiness()).hosts).toMatchObject([{ msSinceHeartbeat: 4_000 }]);
});
