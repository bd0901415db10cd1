import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createReconciler } from '../../../../worker/reconciler/reconciler.ts';
import { setupReconciler } from './setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
afterEach(() => vi.useRealTimers());

const cause = (runId: string) => ({ runId, cause: 'stopped_by_api' as const, detail: null });
const callbackUrl = 'https://receiver.example/';

describe('a run that was admitted and not started', () => {
  it('is started, once', async () => {
    const run = await scenario.run();
    await fixture.reconciler.pass();
    await fixture.reconciler.pass();
    expect(fixture.calls.filter((line) => line.startsWith('start'))).toEqual([
      `start ${run.runId}`,
    ]);
    expect((await fixture.read(run)).workflowStartedAt).not.toBeNull();
  });

  it('waits for Temporal while it is down, and other steps do not', async () => {
    const run = await scenario.run();
    fixture.sandboxes.push({ runId: randomUUID(), generation: 1, hostId: 'host-here' });
    fixture.deps.temporal.check = async () => {
      throw new Error('away');
    };
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`remove ${fixture.sandboxes[0]?.runId}-1`]);
    expect((await fixture.read(run)).workflowStartedAt).toBeNull();
  });

  it('is left to the next worker if this one is stopped meanwhile', async () => {
    const run = await scenario.run();
    const stopping = new AbortController();
    fixture.deps.temporal.check = async () => stopping.abort();
    await fixture.reconciler.run(stopping.signal);
    expect(fixture.calls).toEqual([]);
    expect((await fixture.read(run)).workflowStartedAt).toBeNull();
  });

  it('does not delay others if it cannot be started', async () => {
    const [bad, good] = [await scenario.run(), await scenario.run()];
    const { startRun } = fixture.deps.temporal;
    fixture.deps.temporal.startRun = async (run) => {
      if (run.runId === bad.runId) throw new Error('refused');
      return startRun(run);
    };
    await fixture.reconciler.pass();
    expect((await fixture.read(bad)).workflowStartedAt).toBeNull();
    expect((await fixture.read(good)).workflowStartedAt).not.toBeNull();
  });
});

describe('a cause without an end', () => {
  it('is signalled again, but not at every pass', async () => {
    const run = await fixture.started(await scenario.run());
    await fixture.runs.recordCause(cause(run.runId));
    await fixture.reconciler.pass();
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`signal ${run.workflowId}`]);
    fixture.clock.now += 61_000;
    await fixture.reconciler.pass();
    expect(fixture.calls).toHaveLength(2);
  });

  it('ends the run with its recorded cause if the signal reaches no workflow', async () => {
    const run = await fixture.started(await scenario.run({ callbackUrl }));
    fixture.workflows.set(run.workflowId, 'closed');
    await fixture.runs.recordCause(cause(run.runId));
    await fixture.reconciler.pass();
    expect(await fixture.read(run)).toMatchObject({ status: 'sleep', endCause: 'stopped_by_api' });
    expect(fixture.calls).toContain(`webhook ${run.runId} from 1`);
  });

  it('ends the run if its workflow does not react in time', async () => {
    const run = await fixture.started(await scenario.run());
    await fixture.runs.recordCause(cause(run.runId));
    fixture.deps.thresholds.stuckMs = 0;
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`terminate ${run.workflowId}`]);
    expect((await fixture.read(run)).endedAt).not.toBeNull();
  });

  it('waits for its workflow to be started first', async () => {
    const run = await scenario.run();
    await fixture.runs.recordCause(cause(run.runId));
    fixture.deps.thresholds.unstartedMs = 60_000;
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([]);
    expect((await fixture.read(run)).endedAt).toBeNull();
  });
});

describe('an active run', () => {
  it('is left alone while its workflow runs', async () => {
    const run = await fixture.started(await scenario.run());
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([]);
    expect((await fixture.read(run)).endedAt).toBeNull();
  });

  it.each([
    ['run', () => scenario.run({ callbackUrl })],
    ['session', () => scenario.session({ callbackUrl })],
  ])(
    'ends as terminated by the operator after the workflow of the %s was closed, and its webhook is sent',
    async (_what, open) => {
      const run = await fixture.started(await open());
      fixture.workflows.set(run.workflowId, 'closed');
      await fixture.reconciler.pass();
      expect(await fixture.read(run)).toMatchObject({ endCause: 'terminated_by_operator' });
      expect(fixture.calls).toEqual([`webhook ${run.runId} from 1`]);
    },
  );

  it('ends when Temporal has forgotten it, and is not started again', async () => {
    const run = await fixture.started(await scenario.run());
    fixture.workflows.delete(run.workflowId);
    await fixture.reconciler.pass();
    await fixture.reconciler.pass();
    expect(await fixture.read(run)).toMatchObject({ endCause: 'max_reconnects_exceeded' });
    expect(fixture.calls).toEqual([]);
  });

  it('is asked to end when it is long past its limit', async () => {
    const run = await fixture.started(await scenario.run({ timeoutSeconds: 60 }));
    fixture.clock.now += 61_000;
    await fixture.reconciler.pass();
    expect(await fixture.read(run), 'only this host’s clock is ahead').toMatchObject({
      endCause: null,
    });
    await database.pool.query(`update runs set created_at = created_at - interval '61 s'`);
    await fixture.reconciler.pass();
    expect(await fixture.read(run)).toMatchObject({ endCause: 'timed_out', endedAt: null });
  });
});

describe('many active runs', () => {
  it('are queried several at a time, so that a slow answer delays no other', async () => {
    for (let made = 0; made < 4; made += 1) await fixture.started(await scenario.run());
    let queries = 0;
    fixture.deps.temporal.describe = async () => {
      queries += 1;
      await expect.poll(() => queries).toBeGreaterThan(3);
      return 'running';
    };
    await fixture.reconciler.pass();
    expect(queries).toBe(4);
  });

  it('are queried by the next passes if the answers are slow', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    for (let made = 0; made < 7; made += 1) await fixture.started(await scenario.run());
    const queries: string[] = [];
    fixture.deps.temporal.describe = async (workflowId) => {
      queries.push(workflowId);
      vi.advanceTimersByTime(2_000);
      return 'running';
    };
    await fixture.reconciler.pass();
    expect(queries).toHaveLength(2);
    for (let pass = 0; pass < 3; pass += 1) await fixture.reconciler.pass();
    expect(new Set(queries).size).toBe(7);
    expect(queries).toHaveLength(7);
  });
});

describe('a sandbox', () => {
  it('is removed when its run has ended, moved to another host, or never existed', async () => {
    const live = await fixture.started(await scenario.run());
    const ended = await fixture.started(await scenario.run());
    await fixture.runs.endRun({ ...cause(ended.runId), exitCode: null });
    const unknown = randomUUID();
    const here = { generation: 1, hostId: 'host-here' };
    fixture.sandboxes.push(
      { runId: live.runId, ...here },
      { runId: live.runId, ...here, generation: 0 },
      { runId: ended.runId, ...here },
      { runId: unknown, ...here },
      { runId: unknown, ...here, hostId: 'host-elsewhere' },
    );
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([
      `remove ${live.runId}-0`,
      `remove ${ended.runId}-1`,
      `remove ${unknown}-1`,
    ]);
  });
});

describe('two workers', () => {
  it('never reconcile at the same time', async () => {
    for (let made = 0; made < 5; made++) await scenario.run();
    const comparing = new Set<string>();
    let together = 0;
    const reconcilerOn = (hostId: string) => {
      const startRun: typeof fixture.deps.temporal.startRun = async (run) => {
        comparing.add(hostId);
        together = Math.max(together, comparing.size);
        await new Promise((resolve) => setTimeout(resolve, 20));
        comparing.delete(hostId);
        return fixture.deps.temporal.startRun(run);
      };
      return createReconciler({
        ...fixture.deps,
        hostId,
        temporal: { ...fixture.deps.temporal, startRun },
      });
    };
    await Promise.all([reconcilerOn('host-here').pass(), reconcilerOn('host-elsewhere').pass()]);
    expect(together).toBe(1);
    expect(fixture.calls).toHaveLength(5);
  });
});
