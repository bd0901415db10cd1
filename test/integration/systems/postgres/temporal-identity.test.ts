import { beforeEach, expect, it } from 'vitest';
import { createScheduleStore } from '../../../../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../../../../systems/postgres/maintenance/temporal-identity-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
beforeEach(() => database.pool.query('delete from temporal_identity'));
const store = () => createTemporalIdentityStore(database.pool);
const identity = (n: number) => ({
  clusterId: `c-${n}`,
  namespaceId: `n-${n}`,
  namespace: 'flowrun',
});

it('of ten identities that processes store at once, one is stored, and all processes get it', async () => {
  const ten = Array.from({ length: 10 }, (_, n) => store().remember(identity(n)));
  const remembered = await Promise.all(ten);
  expect(new Set(remembered.map(({ namespaceId }) => namespaceId)).size).toBe(1);
  const { rows } = await database.pool.query('select namespace_id from temporal_identity');
  expect(rows).toEqual([{ namespace_id: remembered[0]?.namespaceId }]);
});

it('an identity is replaced only by adopting another one, or after a restore', async () => {
  await store().remember(identity(1));
  expect(await store().remember(identity(2))).toMatchObject(identity(1));
  await store().adopt(identity(2));
  expect(await store().find()).toMatchObject({
    ...identity(2),
    lossesAcceptedAt: expect.any(Date),
    missingWorkflows: null,
  });
  await database.pool.query('update temporal_identity set namespace_id = null, namespace = null');
  expect(await store().find()).toBeNull();
  expect(await store().remember(identity(3))).toMatchObject(identity(3));
});

it('an alarm is cleared by a sweep that began after it was last raised, and by adopting', async () => {
  await store().remember(identity(1));
  expect(await store().clearMissing(0)).toBe('none');
  await store().recordMissing({ missing: 9, described: 20 });
  const since = (await store().find())?.missingWorkflows?.since;
  await store().recordMissing({ missing: 8, described: 20 });
  expect((await store().find())?.missingWorkflows).toEqual({ missing: 8, described: 20, since });
  expect(await store().clearMissing(60_000)).toBe('raised');
  expect(await store().clearMissing(0)).toBe('cleared');
  await store().recordMissing({ missing: 9, described: 20 });
  await store().adopt(identity(1));
  expect((await store().find())?.missingWorkflows).toBeNull();
});

it('adopting marks all schedules as not synced, because another server has none', async () => {
  const schedule = { cron: '0 9 * * *', timezone: 'UTC' };
  const flow = { prompt: 'Go', schedule };
  const { flowId } = (await createScenario(database.pool, testSealer, { flow })).flow;
  const schedules = createScheduleStore(database.pool);
  for (const unsynced of await schedules.unsynced()) await schedules.markSynced(unsynced, 0);
  expect(await schedules.unsynced()).toEqual([]);
  await store().adopt(identity(1));
  expect(await schedules.unsynced()).toMatchObject([{ flowId, schedule }]);
});
