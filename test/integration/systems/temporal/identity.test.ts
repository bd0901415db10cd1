import { afterEach, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../../dev/stack/ports.ts';
import { createTemporalIdentityStore } from '../../../../systems/postgres/maintenance/temporal-identity-store.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { admittedRun } from '../../../support/admitted-run.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createNamespace } from '../../../support/temporal-namespace.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { forwardTemporal } from './forward-temporal.ts';

const database = useDatabase();
const open: Temporal[] = [];
let otherNamespace: string;
beforeAll(async () => {
  otherNamespace = await createNamespace();
});
afterEach(async () => {
  for (const temporal of open.splice(0)) await temporal.close();
  await database.pool.query('delete from temporal_identity');
});

/** A process with this database, and the hints with which it would stop. */
function openProcess(
  namespace: string,
  address = stackEnv.temporalAddress,
): { temporal: Temporal; hints: string[] } {
  const hints: string[] = [];
  const { remember } = createTemporalIdentityStore(database.pool);
  const storedIdentity = { remember, onMismatch: (hint: string) => void hints.push(hint) };
  const connection = { address };
  const temporal = createTemporal({ namespace, connection, instance: 'identity', storedIdentity });
  open.push(temporal);
  return { temporal, hints };
}

it('two namespaces of a cluster have different identities', async () => {
  const one = await openProcess('default').temporal.identity();
  const other = await openProcess(otherNamespace).temporal.identity();
  expect(one.namespaceId).toMatch(/^[0-9a-f-]{36}$/);
  expect(other).toEqual({
    clusterId: one.clusterId,
    namespaceId: expect.not.stringContaining(one.namespaceId),
    namespace: otherNamespace,
  });
});

it('the database belongs to the Temporal of its first process, and another one gets no request', async () => {
  const first = openProcess('default');
  const second = openProcess(otherNamespace);
  await first.temporal.check();
  const run = admittedRun({});
  await expect(second.temporal.startRun(run)).rejects.toThrow('This database belongs to');
  expect(second.temporal.wasVerified()).toBe(false);
  expect(second.hints[0]).toMatch(
    new RegExp(
      `belongs to the namespace default .* point to the namespace ${otherNamespace} .*` +
        'flowrun temporal adopt --confirm',
    ),
  );
  const unguarded = createTemporal({
    namespace: otherNamespace,
    connection: { address: stackEnv.temporalAddress },
    instance: 'identity',
  });
  open.push(unguarded);
  expect(await unguarded.describe(run.workflowId)).toBe('missing');
  expect([first.hints, first.temporal.wasVerified()]).toEqual([[], true]);
});

it('an unreachable Temporal does not stop the process: only requests fail', async () => {
  const port = await freePort();
  const { temporal, hints } = openProcess('default', `127.0.0.1:${port}`);
  await expect(temporal.startRun(admittedRun({}))).rejects.toThrow();
  expect([temporal.wasVerified(), hints]).toEqual([false, []]);
  const proxy = await forwardTemporal(port);
  await expect.poll(() => temporal.check().then(() => true, String), poll).toBe(true);
  expect(temporal.wasVerified()).toBe(true);
  await proxy.close();
});

it('a missing namespace does not stop the process', async () => {
  await openProcess('default').temporal.check();
  const { temporal, hints } = openProcess('does-not-exist');
  await expect(temporal.check()).rejects.toThrow();
  expect(hints).toEqual([]);
});

it('after an outage the identity is compared again, before the next request', async () => {
  const port = await freePort();
  const proxy = await forwardTemporal(port);
  const { temporal, hints } = openProcess('default', `127.0.0.1:${port}`);
  expect(temporal.isReachable()).toBe(false);
  await temporal.check();
  expect(temporal.isReachable()).toBe(true);
  await proxy.close();
  await expect(temporal.describe('any')).rejects.toThrow();
  expect(temporal.isReachable()).toBe(false);
  // As if an empty server had been started at the address.
  await database.pool.query(`update temporal_identity set namespace_id = 'of the lost server'`);
  const again = await forwardTemporal(port);
  const verify = () => temporal.verifyIdentity().then(() => '', String);
  await expect.poll(verify, poll).toContain('This database belongs to');
  await expect(temporal.startRun(admittedRun({}))).rejects.toThrow('This database belongs to');
  expect(hints.length).toBeGreaterThan(0);
  await again.close();
});

const poll = { timeout: 30_000, interval: 200 };
