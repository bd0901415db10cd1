import { setTimeout as sleep } from 'node:timers/promises';
import { createTemporal } from '../../systems/temporal/client.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { startBareAgent } from '../limits/bare-agent.ts';
import type { OpenScenario, Scenario } from '../measure/scenario.ts';
import { type BenchService, startBenchService } from '../service/bench-service.ts';
import { type BenchSession, openSession } from '../service/session.ts';

const settleMs = 300;
const pollMs = 50;
/** Less than the default, because each iteration waits for a pause. */
const pauseAfterMs = 1_000;

export const wake: Scenario = {
  id: 'T19',
  targets: [
    {
      id: 'T19-pause',
      title: 'chat POST to a paused session to the first text, against unpausing a bare container',
      unit: 'ms',
      better: 'less',
      goal: 1.3,
    },
    {
      id: 'T19-sleep',
      title: 'chat POST to a sleeping session to the first text, against a new bare container',
      unit: 'ms',
      better: 'less',
      goal: 1.1,
    },
  ],
  iterations: 12,
  warmUps: 1,
  open,
};

async function open(): Promise<OpenScenario> {
  const env = { SESSION_PAUSE_AFTER_MS: String(pauseAfterMs) };
  const service = await startBenchService({ agent: 'real', env });
  const sleeper = openSleeper(service);
  const [paused, asleep] = [await openSession(service), await openSession(service)];
  const [bare] = await startBareAgent(service.modelSocket);
  await sleeper.putToSleep(asleep);
  return {
    async ours() {
      const wakeMs = await asleep.firstText();
      await sleeper.putToSleep(asleep);
      await paused.untilPaused();
      return { values: { 'T19-pause': await paused.firstText(), 'T19-sleep': wakeMs } };
    },
    async limit() {
      const [agent, startMs] = await startBareAgent(service.modelSocket);
      await agent.remove();
      await sleep(settleMs);
      const unpauseMs = await bare.firstTextAfterPause();
      await sleep(settleMs);
      return { values: { 'T19-pause': unpauseMs, 'T19-sleep': startMs } };
    },
    async close() {
      paused.close();
      asleep.close();
      await bare.remove();
      await sleeper.close();
      await service.stop();
    },
  };
}

/** Puts sessions to sleep as an eviction does. */
function openSleeper({ database, instance, readRun, sandboxes }: BenchService) {
  const connection = { address: stackEnv.temporalAddress };
  const temporal = createTemporal({ namespace: 'default', connection, instance });
  return {
    async putToSleep({ runId }: BenchSession): Promise<void> {
      const { rows } = await database.pool.query<{ id: string }>(
        'select workflow_id as id from runs where id = $1',
        [runId],
      );
      await temporal.signalSleep(rows[0]?.id ?? '');
      while ((await readRun(runId)).status !== 'sleep') await sleep(pollMs);
      while ((await sandboxes.list()).some((each) => each.runId === runId)) await sleep(pollMs);
      await sleep(settleMs);
    },
    close: () => temporal.close(),
  };
}
