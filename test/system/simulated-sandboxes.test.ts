// The rehearsal of scale measures the API, the workers and the servers. So the service must treat
// simulated sandboxes like real ones.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSimulatedEngine } from '../../bench/rehearsal/start-engine.ts';
import {
  openSessions,
  putAllToSleep,
  sendMessages,
  untilPaused,
} from '../../bench/rehearsal/workloads.ts';
import { type Service, startService } from '../support/service.ts';

const script = { steps: 2, stepMs: 1 };

let service: Service;
let stopEngine: () => Promise<void>;
beforeAll(async () => {
  const engine = await startSimulatedEngine(script);
  stopEngine = engine.stop;
  const env = { SESSION_IDLE_MS: '3599999', SESSION_PAUSE_AFTER_MS: '100' };
  service = await startService({ on: { dockerHost: engine.dockerHost }, env });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await stopEngine?.();
});

it('completes a run with its steps, a model call and an answer', {
  timeout: 120_000,
}, async () => {
  const { runId } = await service.trigger({ prompt: 'Do this.' });
  const run = await service.untilEnded(runId);
  expect(run).toMatchObject({ exitCode: 0, result: 'This is done.', numTurns: script.steps + 1 });
  const { rows } = await service.database.pool.query(
    `select count(*) as calls from model_calls where run_id = $1`,
    [runId],
  );
  expect(rows).toEqual([{ calls: 1 }]);
});

it('pauses an idle session, unpauses it for a message, puts it to sleep and wakes it', {
  timeout: 120_000,
}, async () => {
  const sessions = await openSessions(service, 1);
  await untilPaused(service, 1);
  await sendMessages(service, sessions, 1);
  await untilPaused(service, 1);
  await putAllToSleep(service);
  await sendMessages(service, sessions, 1);
  await untilPaused(service, 1);
  const { rows } = await service.database.pool.query(
    `select count(*) as turns, max(generation) as generation from session_messages
     where ended_at is not null and exit_code = 0`,
  );
  expect(rows).toEqual([{ turns: 3, generation: 2 }]);
});
