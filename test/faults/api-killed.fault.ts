import { afterAll, beforeAll, expect, it } from 'vitest';
import { script } from '../support/prompts.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture();
});
afterAll(() => fixture?.stop());

const timeoutMs = 120_000;

it('loses nothing for clients that reconnect after the API was killed', async () => {
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await steadyClient.untilFrames(part * framesOfPart + 1_000, timeoutMs);
    await service.api.kill('SIGKILL');
    releaseFlood(service, runId, part === 0 ? 1 : 2);
    await waitForReconnect('API', steadyClient, () => service.api.start());
  }
  await expectComplete();
  expect(steadyClient.transcript.connections.length).toBeGreaterThan(2);
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
});

it('ends streams with a short reconnect delay when the API receives SIGTERM', async () => {
  const { service } = fixture;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  await steadyClient.untilFrames(1_000, timeoutMs);
  await service.api.restart('SIGTERM');
  releaseFlood(service, runId, 1, 2);
  await expectComplete();
});

const patiently = { timeout: 1_200_000 };

it(
  'loses no start and no webhook if the API is killed after each of 50 answers',
  patiently,
  async () => {
    const { service, containers } = fixture;
    const { pool } = service.database;
    const text = 'update projects set max_concurrent_runs = 100 where id = $1';
    await pool.query(text, [service.projectId]);
    const isUnstarted = 'select from runs where id = $1 and workflow_started_at is null';
    const runIds: string[] = [];
    let unstarted = 0;
    while (runIds.length < 50) {
      const runId = await fixture.trigger(script([{ say: `Run ${runIds.length}.` }]));
      await service.api.kill('SIGKILL');
      unstarted += (await pool.query(isUnstarted, [runId])).rows.length;
      runIds.push(runId);
      await service.api.start();
    }
    console.log(`killed before the start of its workflow was recorded: ${unstarted} of 50`);
    expect(unstarted).toBeGreaterThan(0);
    for (const runId of runIds) {
      const { run, posts } = await fixture.expectInvariants(runId, { withinMs: timeoutMs });
      expect(run).toMatchObject({ endCause: 'completed', exitCode: 0 });
      expect(posts).toHaveLength(1);
      expect(containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
    }
  },
);
