import { beforeEach, expect, it } from 'vitest';
import { storeMessage } from '../../../systems/postgres/session-turns.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
beforeEach(() => {
  fixture.deps.temporal.signalMessage = async (run, messageId) => {
    fixture.calls.push(`message ${run.runId} ${messageId}`);
    return 'signalled';
  };
});

/** A session with a message that was not signalled. */
async function sessionToTell() {
  const { runId } = await fixture.started(await scenario.session());
  const messageId = await storeMessage(database.pool, runId);
  return { runId, messageId, line: `message ${runId} ${messageId}` };
}

it('signals each session its oldest unsignalled message, once', async () => {
  const [one, other] = [await sessionToTell(), await sessionToTell()];
  await fixture.reconciler.pass();
  expect(fixture.calls.sort()).toEqual([one.line, other.line].sort());
  await fixture.reconciler.pass();
  expect(fixture.calls).toHaveLength(2);
  const next = await storeMessage(database.pool, one.runId);
  await fixture.reconciler.pass();
  expect(fixture.calls.at(-1)).toBe(`message ${one.runId} ${next}`);
  expect(fixture.calls).toHaveLength(3);
});

it('leaves a recent message to the process that stored it', async () => {
  await sessionToTell();
  fixture.deps.thresholds.unstartedMs = 60_000;
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual([]);
});

it('retries a failed signal, without delaying other messages', async () => {
  const [bad, good] = [await sessionToTell(), await sessionToTell()];
  const { signalMessage } = fixture.deps.temporal;
  fixture.deps.temporal.signalMessage = async (run, messageId) => {
    if (run.runId === bad.runId) throw new Error('refused');
    return signalMessage(run, messageId);
  };
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual([good.line]);
  fixture.deps.temporal.signalMessage = signalMessage;
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual([good.line, bad.line]);
});

it('signals a message again if recording the signal failed', async () => {
  const { line } = await sessionToTell();
  const { markSignalled } = fixture.deps.messages;
  fixture.deps.messages.markSignalled = async () => {
    throw new Error('away');
  };
  await fixture.reconciler.pass();
  fixture.deps.messages.markSignalled = markSignalled;
  await fixture.reconciler.pass();
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual([line, line]);
});

it('ends a session whose workflow is gone, instead of signalling it forever', async () => {
  const { runId, messageId } = await sessionToTell();
  const run = await fixture.runs.find(runId);
  fixture.workflows.set(run?.workflowId ?? '', 'closed');
  fixture.deps.temporal.signalMessage = async () => {
    fixture.calls.push('gone');
    return 'gone';
  };
  await fixture.reconciler.pass();
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual(['gone']);
  expect((await fixture.runs.find(runId))?.endedAt).not.toBeNull();
  const text = 'select exit_code from session_messages where id = $1';
  expect((await database.pool.query(text, [messageId])).rows).toEqual([{ exit_code: 1 }]);
});
