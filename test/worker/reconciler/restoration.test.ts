import { beforeEach, expect, it } from 'vitest';
import type { Run } from '../../../core/run.ts';
import { useFreshScene } from '../../systems/postgres/use-scene.ts';
import { reconcilerWorld } from './reconciler-world.ts';

const { database, scene } = useFreshScene();
let world: ReturnType<typeof reconcilerWorld>;
beforeEach(async () => {
  await database.pool.query('truncate runs, hosts, restorations cascade');
  world = reconcilerWorld(database);
});

const callbackUrl = 'https://receiver.example/';

/** As if all that is in the database now had come out of a backup, so many milliseconds ago. */
async function restored(agoMs = 0): Promise<void> {
  const { pool } = database;
  await pool.query(`select note_restoration(db_clock() - interval '1 day')`);
  const text = `update restorations set restored_at = restored_at - $1 * interval '1 ms'`;
  await pool.query(text, [agoMs]);
}

const isSettled = async (): Promise<boolean> =>
  (await world.deps.reconcile.unsettledRestoration()) === null;

/** One that the backup knows as alive, and whose workflow has ended since. */
async function endedSession(): Promise<Run> {
  const run = await world.started(await scene.session());
  world.workflows.set(run.workflowId, 'closed');
  return run;
}

const endedMeanwhile = {
  endCause: 'max_reconnects_exceeded',
  endDetail: 'it ended after the backup that the database was restored from',
};

/** Its detail is the lesser part of why it ended. */
function expectEnded(run: Run): void {
  expect(run).toMatchObject({
    endCause: 'max_reconnects_exceeded',
    endDetail: 'the database was restored from a backup',
    status: 'sleep',
  });
  expect(run.endedAt).not.toBeNull();
}

it('ends a run that was going on in the backup, once, whatever Temporal knows of it', async () => {
  const over = await world.started(await scene.run({ callbackUrl }));
  const lost = await world.started(await scene.run());
  const goesOn = await world.started(await scene.run());
  world.workflows.set(over.workflowId, 'closed');
  world.workflows.delete(lost.workflowId);
  await restored();
  await world.reconciler.pass();
  for (const run of [over, lost]) expectEnded(await world.read(run));
  expect(world.asked).toContain(`webhook ${over.runId} from 1`);
  // Its workflow stops it, and brings the end about with the cause that is recorded.
  expect(world.asked).toContain(`signal ${goesOn.workflowId}`);
  expect(await world.read(goesOn)).toMatchObject({ endCause: 'max_reconnects_exceeded' });
});

it('ends a session that has ended meanwhile as such, also where that could not be told at first', async () => {
  const [told, asked] = [await endedSession(), await endedSession()];
  const { describe } = world.deps.temporal;
  world.deps.temporal.describe = async (id) => {
    if (id === asked.workflowId) throw new Error('not now');
    return describe(id);
  };
  await restored(61_000);
  await world.reconciler.pass();
  expect(await world.read(told)).toMatchObject(endedMeanwhile);
  expect((await world.read(asked)).endedAt).toBeNull();
  expect(await isSettled()).toBe(false);
  // It answers within a pass: only the comparison says what became of it.
  let calls = 0;
  world.deps.temporal.describe = async (id) => {
    calls += 1;
    if (calls === 1) throw new Error('not now');
    return describe(id);
  };
  await world.reconciler.pass();
  expect((await world.read(asked)).endedAt).toBeNull();
  await world.reconciler.pass();
  expect(await world.read(asked)).toMatchObject(endedMeanwhile);
  expect(await isSettled()).toBe(true);
});

it('keeps the cause that a run in the backup was about to end for', async () => {
  const run = await world.started(await scene.run());
  await world.runs.recordCause({ runId: run.runId, cause: 'stopped_by_api', detail: null });
  world.workflows.set(run.workflowId, 'closed');
  await restored();
  await world.reconciler.pass();
  expect(await world.read(run)).toMatchObject({ endCause: 'stopped_by_api', status: 'sleep' });
});

it('ends the workflows of runs that the backup does not know, and asks again for a minute', async () => {
  const known = await world.started(await scene.run());
  world.workflows.set('run/unknown', 'running');
  await restored(61_000);
  await world.reconciler.pass();
  expect(world.asked.filter((line) => line.startsWith('terminate'))).toEqual([
    'terminate run/unknown',
  ]);
  expect(world.workflows.get(known.workflowId)).toBe('running');
  expect(await isSettled()).toBe(false);
  await world.reconciler.pass();
  expect(await isSettled()).toBe(true);
  world.workflows.set('run/later', 'running');
  await world.reconciler.pass();
  expect(world.asked).not.toContain('terminate run/later');
});

it('ends no workflow of a database that was not restored', async () => {
  world.workflows.set('run/unknown', 'running');
  await world.reconciler.pass();
  expect(world.asked).toEqual([]);
});

it('gives nobody a lease again that was given out since', async () => {
  const run = await scene.run();
  const read = async () => {
    const text = 'select lease_token as token, lease_owner as owner from cursors where run_id = $1';
    return (await database.pool.query(text, [run.runId])).rows[0];
  };
  const before = await read();
  await restored();
  expect(await read()).toEqual({ token: before.token + 2 ** 32, owner: null });
});

it.each([
  ['its own workflow', { hasCompleted: async () => true }],
  ['another', { startWebhook: async () => 'already' as const }],
])('drops a webhook that %s has dealt with since', async (_, temporal) => {
  const run = await world.started(await scene.run({ callbackUrl }));
  world.workflows.set(run.workflowId, 'closed');
  Object.assign(world.deps.temporal, temporal);
  await restored();
  await world.reconciler.pass();
  expect((await world.read(run)).webhook.state).toBe('dropped');
  expect(world.asked.filter((line) => line.startsWith('webhook'))).toEqual([]);
});
