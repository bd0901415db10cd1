// From when the idle time of a session counts: a reader or background work delays its sleep.

import { expect, test } from 'vitest';
import { type AgentState, initialAgentState } from '../../../../core/agent/agent-state.ts';
import { limits } from '../../../../core/limits.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { storeMessage } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const hourMs = 3_600_000;
/** More than a test takes between two statements. */
const shortMs = 30_000;

/** A session that has been idle for two hours, with the last frame of its agent an hour ago. */
async function idleSession(state: Partial<AgentState>, frameAgeMs = hourMs): Promise<string> {
  const { runId } = await scenario.session();
  const { pool } = database;
  await pool.query(
    `update sessions set idle_since = db_clock() - interval '2 hours' where run_id = $1`,
    [runId],
  );
  await pool.query(
    `insert into frames (run_id, seq, at, event, channel, data)
     values ($1, 1, db_clock() - $2 * interval '1 ms', 'system', 'other', '{}')`,
    [runId, frameAgeMs],
  );
  const agentState = JSON.stringify({ ...initialAgentState, ...state });
  await pool.query('update run_logs set agent_state = $2, last_seq = 1 where run_id = $1', [
    runId,
    agentState,
  ]);
  return runId;
}

const idleState = (runId: string) => createTurnStore(database.pool).idleState(runId);

test.each([{ backgroundTasks: 1 }, { isInTurn: true }])(
  'a session whose agent has background work is not inactive: %o',
  async (state) => {
    const { idleForMs, inactiveForMs } = await idleState(await idleSession(state));
    expect(inactiveForMs).toBe(0);
    expect(idleForMs).toBeGreaterThanOrEqual(2 * hourMs);
  },
);

test('a session is inactive since the last frame of its agent', async () => {
  const { idleForMs, inactiveForMs } = await idleState(await idleSession({}));
  expect(idleForMs).toBeGreaterThanOrEqual(2 * hourMs);
  expect(inactiveForMs).toBeGreaterThanOrEqual(hourMs);
  expect(inactiveForMs).toBeLessThan(2 * hourMs);
});

test('the turn that a task starts at its end is awaited, but not forever', async () => {
  const { turnStartMs } = limits.eviction;
  const due = await idleState(await idleSession({ isTurnDue: true }, turnStartMs - shortMs));
  expect(due.inactiveForMs).toBe(0);
  const overdue = await idleState(await idleSession({ isTurnDue: true }, turnStartMs));
  expect(overdue.inactiveForMs).toBeGreaterThanOrEqual(turnStartMs);
});

/** Appends a frame that a client has caused to the log of an idle session. */
const clientFrames = {
  message_withdrawn: async (runId: string) => {
    const messageId = await storeMessage(database.pool, runId);
    await createMessageStore(database.pool).withdraw(runId, messageId);
  },
  files_skipped: (runId: string) =>
    database.pool.query(`select append_own_frame($1, 'files_skipped', '{}', 'other')`, [runId]),
};

test.each(Object.entries(clientFrames))(
  'the frame %s delays neither the sleep of a session nor the end of its background work',
  async (event, append) => {
    const { turnStartMs } = limits.eviction;
    const idle = await idleSession({});
    const due = await idleSession({ isTurnDue: true }, turnStartMs);
    for (const runId of [idle, due]) await append(runId);
    const text = 'select from frames where run_id = any($1) and event = $2';
    expect((await database.pool.query(text, [[idle, due], event])).rowCount).toBe(2);
    expect((await idleState(idle)).inactiveForMs).toBeGreaterThanOrEqual(hourMs);
    expect((await idleState(due)).inactiveForMs).toBeGreaterThanOrEqual(turnStartMs);
  },
);

test('a session with a message is not idle', async () => {
  const runId = await idleSession({});
  await storeMessage(database.pool, runId);
  expect(await idleState(runId)).toMatchObject({ idleForMs: null });
});

test('a session without frames is inactive since its last turn', async () => {
  const { runId } = await scenario.session();
  expect(await idleState(runId)).toEqual({ idleForMs: expect.any(Number), inactiveForMs: null });
});
