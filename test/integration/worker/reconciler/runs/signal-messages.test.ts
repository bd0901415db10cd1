import { beforeEach, expect, it } from 'vitest';
import { storeMessage } from '../../../systems/postgres/session-turns.ts';
import { setupFreshScenario } from '../../../systems/postgres/setup-scenario.ts';
import { reconcilerWorld } from '../reconciler-fixture.ts';

const { database, scene } = setupFreshScenario();
let world: ReturnType<typeof reconcilerWorld>;
beforeEach(async () => {
  await database.pool.query('truncate runs, hosts cascade');
  world = reconcilerWorld(database);
  world.deps.temporal.signalMessage = async (run, messageId) => {
    world.calls.push(`message ${run.runId} ${messageId}`);
    return 'signalled';
  };
});

/** A session with a message that was not signalled. */
async function sessionToTell() {
  const { runId } = await world.started(await scene.session());
  const messageId = await storeMessage(database.pool, runId);
  return { runId, messageId, line: `message ${runId} ${messageId}` };
}

it('signals each session its oldest unsignalled message, once', async () => {
  const [one, other] = [await sessionToTell(), await sessionToTell()];
  await world.reconciler.pass();
  expect(world.calls.sort()).toEqual([one.line, other.line].sort());
  await world.reconciler.pass();
  expect(world.calls).toHaveLength(2);
  const next = await storeMessage(database.pool, one.runId);
  await world.reconciler.pass();
  expect(world.calls.at(-1)).toBe(`message ${one.runId} ${next}`);
  expect(world.calls).toHaveLength(3);
});

it('leaves a recent message to the process that stored it', async () => {
  await sessionToTell();
  world.deps.thresholds.unstartedMs = 60_000;
  await world.reconciler.pass();
  expect(world.calls).toEqual([]);
});

it('retries a failed signal, without delaying other messages', async () => {
  const [bad, good] = [await sessionToTell(), await sessionToTell()];
  const { signalMessage } = world.deps.temporal;
  world.deps.temporal.signalMessage = async (run, messageId) => {
    if (run.runId === bad.runId) throw new Error('refused');
    return signalMessage(run, messageId);
  };
  await world.reconciler.pass();
  expect(world.calls).toEqual([good.line]);
  world.deps.temporal.signalMessage = signalMessage;
  await world.reconciler.pass();
  expect(world.calls).toEqual([good.line, bad.line]);
});

it('signals a message again if recording the signal failed', async () => {
  const { line } = await sessionToTell();
  const { markSignalled } = world.deps.messages;
  world.deps.messages.markSignalled = async () => {
    throw new Error('away');
  };
  await world.reconciler.pass();
  world.deps.messages.markSignalled = markSignalled;
  await world.reconciler.pass();
  await world.reconciler.pass();
  expect(world.calls).toEqual([line, line]);
});

it('ends a session whose workflow is gone, instead of signalling it forever', async () => {
  const { runId, messageId } = await sessionToTell();
  const run = await world.runs.find(runId);
  world.workflows.set(run?.workflowId ?? '', 'closed');
  world.deps.temporal.signalMessage = async () => {
    world.calls.push('gone');
    return 'gone';
  };
  await world.reconciler.pass();
  await world.reconciler.pass();
  expect(world.calls).toEqual(['gone']);
  expect((await world.runs.find(runId))?.endedAt).not.toBeNull();
  const text = 'select exit_code from session_messages where id = $1';
  expect((await database.pool.query(text, [messageId])).rows).toEqual([{ exit_code: 1 }]);
});
