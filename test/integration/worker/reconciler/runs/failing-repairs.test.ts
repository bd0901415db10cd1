// More repairs than a page has fail at every pass. They must not delay the others: each pass takes
// the page after the last one.

import { describe, expect, it } from 'vitest';
import { openSessions } from '../open-sessions.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
const pageSize = 200;

interface Sessions {
  all: { runId: string; workflowId: string }[];
  /** The last one in the order of the repairs. Its requests succeed. */
  good: { runId: string; workflowId: string };
}

/** `change` is a statement for the sessions `opened`, the time of each a second after the last. */
async function sessionsToRepair(change: string): Promise<Sessions> {
  const all = await openSessions(database, scenario, pageSize + 1);
  for (const { workflowId } of all) fixture.workflows.set(workflowId, 'running');
  await database.pool.query(
    `with opened as (
       select id, db_clock() - interval '1 hour' + place * interval '1 s' as at
       from unnest($1::uuid[]) with ordinality _ (id, place)
     ) ${change}`,
    [all.map(({ runId }) => runId)],
  );
  const good = all.at(-1);
  if (!good) throw new Error('no sessions');
  return { all, good };
}

const stopped = `update runs set end_cause = 'stopped_by_api', end_cause_at = opened.at
                 from opened where runs.id = opened.id`;
const unstarted = `update runs set workflow_started_at = null, created_at = opened.at
                   from opened where runs.id = opened.id`;
const messaged = `insert into session_messages (id, run_id, position, text, created_at)
                  select gen_random_uuid(), id, 1, '', at from opened`;

/** On a host that has not started their sandboxes. */
const assigned = `update runs set host_id = 'h', holds_slot = true, created_at = opened.at
                  from opened where runs.id = opened.id`;
const awake = `, started as (update sessions set started_generation = 1) ${assigned}`;
const withoutSession = `, unbound as (delete from sessions)
                        ${assigned.replace('set', 'set session_id = null,')}`;

const renewHost = () => fixture.hosts.renew({ hostId: 'h', name: 'h', capacity: 4 });

async function stopHost(): Promise<void> {
  await renewHost();
  await fixture.hosts.markStopped('h');
}

/** This worker may judge hosts, and the host is lost. */
async function loseHost(): Promise<void> {
  await renewHost();
  await database.pool.query(`update hosts set last_seen = last_seen - interval '2 minutes'`);
  fixture.deps.renewedForMs = () => 60_000;
}

function refuseHostLossExceptOf({ workflowId: accepting }: { workflowId: string }): void {
  const { signalHostLost } = fixture.deps.temporal;
  fixture.deps.temporal.signalHostLost = async (workflowId, payload) => {
    if (workflowId !== accepting) throw new Error('refused');
    return signalHostLost(workflowId, payload);
  };
}

/** Two suffice, unless a step of one of them takes as long as it may take. */
async function fourPasses(): Promise<void> {
  for (let pass = 0; pass < 4; pass += 1) await fixture.reconciler.pass();
}

describe('failures at every pass', () => {
  it('of stop signals do not delay another stop', async () => {
    const { good } = await sessionsToRepair(stopped);
    fixture.deps.thresholds.stuckMs = 7_200_000;
    const { stopRun } = fixture.deps.temporal;
    fixture.deps.temporal.stopRun = async (run, order) => {
      if (run.workflowId !== good.workflowId) throw new Error('refused');
      return stopRun(run, order);
    };
    await fourPasses();
    expect(fixture.calls).toEqual([`signal ${good.workflowId}`]);
  });

  it('of terminations do not delay another run that its workflow does not end', async () => {
    const { good } = await sessionsToRepair(stopped);
    fixture.deps.thresholds.stuckMs = 60_000;
    fixture.deps.thresholds.resendAfterMs = 7_200_000;
    const { terminate } = fixture.deps.temporal;
    fixture.deps.temporal.terminate = async (workflowId, reason) => {
      if (workflowId !== good.workflowId) throw new Error('refused');
      return terminate(workflowId, reason);
    };
    await fourPasses();
    expect(fixture.calls).toEqual([`terminate ${good.workflowId}`]);
  });

  it('of starts do not delay another start', async () => {
    const { good } = await sessionsToRepair(unstarted);
    const { startRun } = fixture.deps.temporal;
    fixture.deps.temporal.startRun = async (run) => {
      if (run.runId !== good.runId) throw new Error('refused');
      return startRun(run);
    };
    await fourPasses();
    expect(fixture.calls).toEqual([`start ${good.runId}`]);
  });

  it('of message signals do not delay the message of another session', async () => {
    const { good } = await sessionsToRepair(messaged);
    const { signalMessage } = fixture.deps.temporal;
    fixture.deps.temporal.signalMessage = async (run, messageId) => {
      if (run.runId !== good.runId) throw new Error('refused');
      return signalMessage(run, messageId);
    };
    await fourPasses();
    expect(fixture.calls).toEqual([`message ${good.runId}`]);
  });

  it('of sleep requests do not delay another session of a draining host', async () => {
    const { good } = await sessionsToRepair(awake);
    await renewHost();
    await fixture.hosts.setDraining('h', true);
    const { signalSleep } = fixture.deps.temporal;
    fixture.deps.temporal.signalSleep = async (workflowId) => {
      if (workflowId !== good.workflowId) throw new Error('refused');
      return signalSleep(workflowId);
    };
    await fourPasses();
    expect(fixture.calls).toEqual([`sleep ${good.workflowId}`]);
  });

  it.each([
    ['of moves do not delay the move of another session', assigned, stopHost],
    ['of signals to sessions of a lost host do not delay another session', awake, loseHost],
  ])('%s', async (_what, prepare, endHost) => {
    const { good } = await sessionsToRepair(prepare);
    await endHost();
    refuseHostLossExceptOf(good);
    await fourPasses();
    expect(fixture.calls).toEqual([`lost ${good.workflowId}-1`]);
  });

  it('of ends of runs of a lost host do not delay the end of another run', async () => {
    const { good } = await sessionsToRepair(withoutSession);
    await loseHost();
    const { endRun } = fixture.deps.runs;
    const ended: string[] = [];
    fixture.deps.runs.endRun = async (end) => {
      if (end.runId !== good.runId) throw new Error('refused');
      ended.push(end.runId);
      return endRun(end);
    };
    await fourPasses();
    expect(ended).toEqual([good.runId]);
  });
});

it('requests each session of a draining host to sleep once within a minute', async () => {
  const { all } = await sessionsToRepair(awake);
  await renewHost();
  await fixture.hosts.setDraining('h', true);
  await fourPasses();
  const lines = all.map(({ workflowId }) => `sleep ${workflowId}`);
  expect(fixture.calls.toSorted()).toEqual(lines.toSorted());
  fixture.clock.now += fixture.deps.thresholds.resendEveryMs + 1;
  await fourPasses();
  expect(fixture.calls.toSorted()).toEqual([...lines, ...lines].toSorted());
});

it('sends each stop again once within a minute, on whichever page it is', async () => {
  const { all } = await sessionsToRepair(stopped);
  fixture.deps.thresholds.stuckMs = 7_200_000;
  await fourPasses();
  const lines = all.map(({ workflowId }) => `signal ${workflowId}`);
  expect(fixture.calls.toSorted()).toEqual(lines.toSorted());
});
