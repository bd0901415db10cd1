// Which sessions of a draining host are requested to sleep, and when again.

import { beforeEach, expect, it } from 'vitest';
import { initialAgentState } from '../../../../../core/agent/agent-state.ts';
import { storeMessage } from '../../../systems/postgres/session-turns.ts';
import { openSessions } from '../open-sessions.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
const hostId = 'h';

let runId: string;
let request: string;
beforeEach(async () => {
  await fixture.hosts.renew({ hostId, name: hostId, capacity: 4 });
  await fixture.hosts.setDraining(hostId, true);
  const [session] = await openSessions(database, scenario, 1);
  runId = session?.runId ?? '';
  request = `sleep ${session?.workflowId}`;
  fixture.workflows.set(session?.workflowId ?? '', 'running');
  await database.pool.query(
    `with started as (update sessions set started_generation = 1)
     update runs set host_id = $1, holds_slot = true`,
    [hostId],
  );
});

const setState = (state: object) =>
  database.pool.query('update run_logs set agent_state = $1', [
    JSON.stringify({ ...initialAgentState, isDone: true, ...state }),
  ]);

async function requests(): Promise<string[]> {
  await fixture.reconciler.pass();
  return fixture.calls.splice(0).filter((call) => call.startsWith('sleep'));
}

it('requests an idle session to sleep, and again once it has worked since', async () => {
  await setState({});
  expect(await requests()).toEqual([request]);
  expect(await requests()).toEqual([]);

  const messageId = await storeMessage(database.pool, runId);
  expect(await requests()).toEqual([]);
  await database.pool.query(
    `with ended as (update session_messages set ended_at = db_clock() where id = $1)
     update run_logs set last_seq = last_seq + 1`,
    [messageId],
  );
  expect(await requests()).toEqual([request]);
});

it.each([{ backgroundTasks: 1 }, { isInTurn: true }])(
  'leaves a session with background work on its host until it has ended: %o',
  async (state) => {
    await setState(state);
    expect(await requests()).toEqual([]);
    await setState({});
    expect(await requests()).toEqual([request]);
  },
);
