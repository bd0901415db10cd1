import { describe, expect, it } from 'vitest';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

describe('a host without a heartbeat for long, with a run that was started', () => {
  async function runOnSilentHost() {
    await fixture.hosts.renew({ hostId: 'silent', name: 'silent', capacity: 4 });
    const run = await fixture.started(await scenario.run());
    expect(run.hostId).toBe('silent');
    await fixture.runs.markStarted(run.runId, 1, 'idle');
    await database.pool.query(`update hosts set last_seen = last_seen - interval '2 minutes'`);
    return run;
  }

  /** Time in which this host's heartbeats reach Postgres. */
  function passTime(ms: number): void {
    fixture.renewals.renewed();
    for (let passedMs = 0; passedMs < ms; passedMs += 5_000) {
      fixture.clock.now += 5_000;
      fixture.renewals.renewed();
    }
  }

  it('loses its runs, after it had time for a heartbeat since this worker’s start', async () => {
    const run = await runOnSilentHost();
    passTime(25_000);
    await fixture.reconciler.pass();
    expect((await fixture.read(run)).endedAt).toBeNull();
    passTime(5_000);
    await fixture.reconciler.pass();
    expect(await fixture.read(run)).toMatchObject({ endCause: 'max_reconnects_exceeded' });
  });

  it('is not declared lost by a worker that may be connected to another Temporal', async () => {
    const run = await runOnSilentHost();
    passTime(60_000);
    fixture.deps.temporal.wasVerified = () => false;
    await fixture.reconciler.pass();
    expect((await fixture.read(run)).endedAt).toBeNull();
    fixture.deps.temporal.wasVerified = () => true;
    await fixture.reconciler.pass();
    expect((await fixture.read(run)).endedAt).not.toBeNull();
  });

  it('is declared lost even if the pass over the other steps takes long', async () => {
    const run = await runOnSilentHost();
    for (let passed = 0; passed < 2; passed += 1) {
      await fixture.reconciler.pass();
      passTime(20_000);
    }
    await fixture.reconciler.pass();
    expect((await fixture.read(run)).endedAt).not.toBeNull();
  });

  it('is not declared lost right after a time in which no heartbeat was possible', async () => {
    const run = await runOnSilentHost();
    passTime(30_000);
    fixture.clock.now += 600_000;
    await fixture.reconciler.pass();
    fixture.renewals.renewed();
    await fixture.reconciler.pass();
    expect((await fixture.read(run)).endedAt).toBeNull();
  });
});
