// When every host is full, a waiting run gets the slot of the session that has been idle for
// longest, on a host that the run may use.

import { beforeEach, expect, test } from 'vitest';
import { initialAgentState } from '../../../../core/agent/agent-state.ts';
import { limits } from '../../../../core/limits.ts';
import type { Run } from '../../../../core/runs/run.ts';
import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { queueRuns } from './queue-runs.ts';
import { storeMessage } from './session-turns.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const hosts = () => createHostStore(database.pool);
const admission = () => createAdmission(database.pool, testSealer);
/** The session that is evicted for a run that waits for a slot of a host. */
const evictableFor = async ({ runId }: Run) =>
  (await admission().findEvictableOnHosts()).find(({ waitingRunId }) => waitingRunId === runId)
    ?.runId ?? null;
/** The session that is evicted for another run of the project. */
const evictableInProject = async () =>
  (await admission().findEvictableInProject(scenario.projectId))?.runId ?? null;

beforeEach(async () => {
  await database.pool.query('truncate runs, hosts cascade');
  for (const hostId of ['h-1', 'h-2']) await hosts().renew({ hostId, name: hostId, capacity: 1 });
});

async function workingSession(): Promise<Run> {
  const run = await scenario.session();
  await storeMessage(database.pool, run.runId);
  await createTurnStore(database.pool).claimSlot(run.runId, 0);
  return run;
}

/** A session on a host that has been idle for that many seconds. */
async function idleSession(seconds: number): Promise<Run & { onHost: string }> {
  const run = await workingSession();
  const { pool } = database;
  await pool.query('update session_messages set ended_at = db_clock() where run_id = $1', [
    run.runId,
  ]);
  const { rows } = await pool.query<{ host_id: string }>(
    `update sessions s set idle_since = db_clock() - $2 * interval '1 s' from runs r
     where s.run_id = $1 and r.id = s.run_id returning r.host_id`,
    [run.runId, seconds],
  );
  return { ...run, onHost: rows[0]?.host_id ?? '' };
}

test('each waiting run gets another session, the longest idle first, until none is left', async () => {
  const [shorter, longer] = [await idleSession(10), await idleSession(20)];
  const [first, second, third] = [
    await scenario.run(),
    await scenario.run(),
    await workingSession(),
  ];
  for (let times = 0; times < 2; times += 1) {
    expect(await evictableFor(first)).toBe(longer.runId);
    expect(await evictableFor(second)).toBe(shorter.runId);
    expect(await evictableFor(third)).toBeNull();
  }
});

test('a session that is working or has a message keeps its slot', async () => {
  await workingSession();
  const idle = await idleSession(10);
  const waiting = await scenario.run();
  expect(await evictableFor(waiting)).toBe(idle.runId);
  await storeMessage(database.pool, idle.runId);
  expect(await evictableFor(waiting)).toBeNull();
});

test('a session that waits for an answer keeps its slot, in every kind of turn', async () => {
  await workingSession();
  const idle = await idleSession(10);
  const waiting = await scenario.run();
  const { pool } = database;
  await pool.query(
    `insert into interactions (run_id, id, tool_name, input) values ($1, 'asked', 'AskUserQuestion', '{}')`,
    [idle.runId],
  );
  expect(await evictableFor(waiting)).toBeNull();
  expect(await evictableInProject()).toBeNull();
  await pool.query(`update interactions set outcome = 'answered' where run_id = $1`, [idle.runId]);
  expect(await evictableFor(waiting)).toBe(idle.runId);
});

test.each([
  { ...initialAgentState, backgroundTasks: 1 },
  { ...initialAgentState, isInTurn: true },
])('a session whose agent continues unprompted is evicted last: %o', async (agentState) => {
  const [longer, shorter] = [await idleSession(20), await idleSession(10)];
  const text = 'update run_logs set agent_state = $2 where run_id = $1';
  await database.pool.query(text, [longer.runId, JSON.stringify(agentState)]);
  await database.pool.query(text, [shorter.runId, JSON.stringify(initialAgentState)]);
  const [first, second] = [await scenario.run(), await scenario.run()];
  expect(await evictableFor(first)).toBe(shorter.runId);
  expect(await evictableFor(second)).toBe(longer.runId);
  expect(await evictableInProject()).toBe(shorter.runId);
});

test('a session whose last task has ended is evicted last until its turn is overdue', async () => {
  const [longer, shorter] = [await idleSession(20), await idleSession(10)];
  const waiting = await scenario.run();
  const { pool } = database;
  const agentState = JSON.stringify({ ...initialAgentState, isTurnDue: true });
  await pool.query('update run_logs set agent_state = $2, last_seq = 1 where run_id = $1', [
    longer.runId,
    agentState,
  ]);
  const leftMs = (ms: number) =>
    pool.query(
      `insert into frames as f (run_id, seq, at, event, channel, data)
       values ($1, 1, db_clock() + $2 * interval '1 ms', 'system', 'other', '{}')
       on conflict (run_id, seq) do update set at = excluded.at`,
      [longer.runId, ms - limits.eviction.turnStartMs],
    );
  await leftMs(60_000);
  expect(await evictableFor(waiting)).toBe(shorter.runId);
  expect(await evictableInProject()).toBe(shorter.runId);
  await leftMs(0);
  expect(await evictableFor(waiting)).toBe(longer.runId);
  expect(await evictableInProject()).toBe(longer.runId);
});

test('evicts no session if a slot was released meanwhile', async () => {
  const [one, other] = [await idleSession(20), await idleSession(10)];
  const waiting = await scenario.run();
  expect(await evictableFor(waiting)).toBe(one.runId);
  await hosts().renew({ hostId: other.onHost, name: other.onHost, capacity: 2 });
  expect(await evictableFor(waiting)).toBeNull();
});

test('evicts no session for a run that waits for no slot', async () => {
  const assigned = await scenario.run();
  expect(assigned.hostId).not.toBeNull();
  await idleSession(10);
  expect(await evictableFor(assigned)).toBeNull();
});

test('a run that is bound to a host gets a slot only there', async () => {
  const [one, other] = [await idleSession(20), await idleSession(10)];
  expect(one.onHost).not.toBe(other.onHost);
  await createFlowStore(database.pool, testSealer).change(scenario.flow.flowId, () => ({
    runner: other.onHost,
  }));
  try {
    expect(await evictableFor(await scenario.run())).toBe(other.runId);
  } finally {
    await createFlowStore(database.pool, testSealer).change(scenario.flow.flowId, () => ({
      runner: null,
    }));
  }
});

/** A flow that is bound to a host without idle sessions, and the idle session of the other host. */
async function flowOfBusyHost() {
  await workingSession();
  const idle = await idleSession(10);
  const flow = await createFlowStore(database.pool, testSealer).create({
    projectId: scenario.projectId,
    name: 'Bound',
    runner: idle.onHost === 'h-1' ? 'h-2' : 'h-1',
  });
  return { idle, flow };
}

test('a run bound to a host without idle sessions does not block other runs', async () => {
  const { idle, flow } = await flowOfBusyHost();
  const bound = await scenario.run({ flowId: flow.flowId });
  expect(await evictableFor(await scenario.run())).toBe(idle.runId);
  expect(await evictableFor(bound)).toBeNull();
});

test('101 runs bound to a busy host do not block other runs', async () => {
  const { idle, flow } = await flowOfBusyHost();
  await queueRuns(database.pool, flow, 101);
  expect(await evictableFor(await scenario.run())).toBe(idle.runId);
});

test('101 runs that no host has a model for do not block other runs', async () => {
  await workingSession();
  const idle = await idleSession(10);
  for (const hostId of ['h-1', 'h-2'])
    await hosts().renew({ hostId, name: hostId, capacity: 1, model: 'none' });
  await queueRuns(database.pool, scenario.flow, 101);
  const model = { apiKey: 'sk-own', baseUrl: 'https://model.example' };
  const withKey = await createScenario(database.pool, testSealer, { project: { model } });
  expect(await evictableFor(await withKey.run())).toBe(idle.runId);
});

test('a slot on a draining or stale host is not offered', async () => {
  const [one, other] = [await idleSession(20), await idleSession(10)];
  const waiting = await scenario.run();
  await hosts().setDraining(one.onHost, true);
  expect(await evictableFor(waiting)).toBe(other.runId);
  await database.pool.query(
    `update hosts set last_seen = last_seen - interval '1 min' where id = $1`,
    [other.onHost],
  );
  expect(await evictableFor(waiting)).toBeNull();
});
