import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { temporalIdentityCheck } from '../../../cli/doctor/checks/temporal-identity.ts';
import { withDoctor } from '../../../cli/open-doctor.ts';
import type { Flow } from '../../../core/flows/flow.ts';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import { createScheduleStore } from '../../../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../../../systems/postgres/maintenance/temporal-identity-store.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { createTemporal } from '../../../systems/temporal/client.ts';
import { createScenario } from '../../support/database-records.ts';
import { cliWith } from '../../support/run-cli.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

let fixture: CliFixture;
beforeAll(async () => {
  fixture = await openCliFixture({ TEMPORAL_ADDRESS: stackEnv.temporalAddress, DATA_DIR: '/tmp' });
});
afterAll(() => fixture?.close());

const store = () => createTemporalIdentityStore(fixture.database.pool);
const lost = { clusterId: 'c-1', namespaceId: 'n-1', namespace: 'lost' };
/** The problems that the doctor reports about Temporal's identity. */
async function findings(): Promise<string> {
  const { problems } = await withDoctor(temporalIdentityCheck.run, fixture.env);
  return problems.map(({ code, message, advice }) => `${code} ${message} ${advice}`).join();
}

it('adopts another Temporal only with --confirm, and names what that ends', async () => {
  const { pool } = fixture.database;
  await store().remember(lost);
  const scenario = await createScenario(pool, fixture.sealer);
  const { runId } = await scenario.run();
  await createRunStore(pool, fixture.sealer).markWorkflowStarted(runId);
  expect(await findings()).toMatch(
    /^other_temporal .*belongs to the namespace lost \(n-1\).*flowrun temporal adopt --confirm/,
  );

  const asked = await fixture.flowrun('temporal', 'adopt');
  expect([asked.code, asked.out]).toEqual([1, '']);
  expect(asked.err).toMatch(
    /belongs to the namespace lost .*The configured one is the namespace default .*Of 1 active run.*--confirm/,
  );
  expect(await store().find()).toMatchObject(lost);

  const adopted = await fixture.flowrun('temporal', 'adopt', '--confirm');
  expect([adopted.code, adopted.err]).toEqual([0, expect.stringContaining('namespace default')]);
  expect(await store().find()).toMatchObject({
    namespace: 'default',
    lossesAcceptedAt: expect.any(Date),
  });
  expect(await findings()).toBe('');
  expect((await fixture.flowrun('temporal', 'adopt')).err).toContain('This is the configured one.');
});

it('reports an alarm of missing workflows, and adopting clears it', async () => {
  await store().recordMissing({ missing: 12, described: 80 });
  expect(await findings()).toMatch(
    /^workflows_missing .*Temporal lacks 12 of 80 workflows.*flowrun temporal adopt --confirm/,
  );
  expect(await fixture.flowrun.json('temporal', 'adopt', '--confirm')).toMatchObject({
    namespace: 'default',
  });
  expect(await findings()).toBe('');
});

it('shows the next and the latest starts of a schedule', async () => {
  const schedule = { cron: '0 9 * * *', timezone: 'UTC' };
  const given = ['--project', 'shop', '--name', 'Daily', '--prompt', 'Go'];
  const { flowId } = await fixture.flowrun.json<Flow>(
    ...['flow', 'create', ...given, '--schedule', schedule.cron],
  );
  const temporal = createTemporal({
    ...{ namespace: 'default', connection: { address: stackEnv.temporalAddress } },
    ...{ instance: 'shown', publicUrl: 'https://runs.example', timeouts: { noCapacityMs: 60_000 } },
  });
  onTestFinished(async () => {
    await temporal.removeSchedule(flowId);
    await temporal.close();
  });
  await temporal.ensureSchedule(flowId, { ...schedule, isPaused: false });
  const { recordStart } = createScheduleStore(fixture.database.pool);
  const runIds = Array.from({ length: 12 }, () => randomUUID());
  const at = (day: number) => new Date(Date.UTC(2026, 0, day, 9));
  for (const [day, runId] of runIds.entries())
    await recordStart({
      ...{ flowId, runId, scheduledAt: at(day + 1) },
      rejectedCode: day === 11 ? 'CONCURRENT_LIMIT' : null,
    });
  const nextStarts = expect.arrayContaining([expect.stringMatching(/T09:00:00.000Z$/)]);
  const shown = await fixture.flowrun.json<{ starts: object[] }>('schedule', 'show', flowId);
  expect(shown).toMatchObject({
    flowId,
    ...schedule,
    pausedAt: null,
    nextStarts,
    skippedStarts: 0,
  });
  expect(shown.starts).toHaveLength(10);
  expect(shown.starts.slice(0, 2)).toMatchObject([
    { scheduledAt: at(12).toISOString(), outcome: 'missed', code: 'CONCURRENT_LIMIT', runId: null },
    { scheduledAt: at(11).toISOString(), outcome: 'started', code: null, runId: runIds[10] },
  ]);
  await createFlowStore(fixture.database.pool, fixture.sealer).pauseSchedule(flowId, true);
  expect((await fixture.flowrun('schedule', 'show', flowId)).out).toMatch(
    /Next starts: none\s+SCHEDULED AT +OUTCOME +CODE +RUN ID\s.*missed +CONCURRENT_LIMIT/,
  );
});

it('adopts nothing if Temporal cannot be reached', async () => {
  const before = await store().find();
  const flowrun = cliWith({ ...fixture.env, TEMPORAL_ADDRESS: '127.0.0.1:1' });
  const { code, err } = await flowrun('temporal', 'adopt', '--confirm');
  expect([code, err]).toEqual([1, expect.stringMatching(/cannot be reached.*TEMPORAL_ADDRESS/)]);
  expect(await store().find()).toEqual(before);
});
