import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type EndCause, endCauses } from '../../../../core/runs/end-cause.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);

const runs = (pool = database.pool) => createRunStore(pool, testSealer);
const configs = () => createRunConfigStore(database.pool, testSealer);

describe('a start', () => {
  test('is recorded once, for its generation, and not after the end', async () => {
    const { runId } = await scenario.run();
    expect(await runs().markStarted(runId, 2, 'idle')).toBe(false);
    const marks = await Promise.all(
      Array.from({ length: 20 }, () => runs().markStarted(runId, 1, 'idle')),
    );
    expect(marks.filter(Boolean)).toHaveLength(1);
    expect(await runs().find(runId)).toMatchObject({
      startedAt: expect.any(Date),
      agentStatus: 'idle',
    });
    const other = await scenario.run();
    const end = { runId: other.runId, cause: 'stalled', detail: null, exitCode: null } as const;
    await runs().endRun(end);
    expect(await runs().markStarted(other.runId, 1, 'idle')).toBe(false);
  });

  test('does not overwrite an earlier status', async () => {
    const { runId } = await scenario.run();
    const frames = createFrameStore(database.pool);
    await frames.appendOwn({ runId, frames: [], facts: { agentStatus: 'working' } });
    await runs().markStarted(runId, 1, 'idle');
    expect(await runs().find(runId)).toMatchObject({ agentStatus: 'working' });
  });

  test('of the workflow keeps its first time', async () => {
    const { runId } = await scenario.run();
    await runs().markWorkflowStarted(runId);
    const first = await runs().find(runId);
    expect(first?.workflowStartedAt).toEqual(expect.any(Date));
    await runs().markWorkflowStarted(runId);
    expect(await runs().find(runId)).toEqual(first);
  });
});

describe('the configuration', () => {
  test('is readable until it is acknowledged, and deleted afterwards', async () => {
    const run = await scenario.run();
    const { runId } = run;
    expect(await configs().read(run)).not.toBeNull();
    expect(await configs().read(run)).not.toBeNull();
    expect(await configs().acknowledge(run)).toBe(true);
    expect(await configs().acknowledge(run)).toBe(true);
    expect(await configs().read(run)).toBeNull();
    expect(await runs().sandboxPlan(runId)).toMatchObject({ config: null });
    expect(await runs().sandboxPlan(randomUUID())).toBeNull();
  });
});

describe('a cause', () => {
  test('the first recorded cause is kept and returned to every later caller', async () => {
    const { runId } = await scenario.run();
    const first = { runId, cause: 'timed_out', detail: 'six\0hours' } as const;
    expect(await runs().recordCause(first)).toBe('timed_out');
    const later = { runId, cause: 'stopped_by_api', detail: null } as const;
    expect(await runs().recordCause(later)).toBe('timed_out');
    expect(await runs().find(runId)).toMatchObject({
      endCause: 'timed_out',
      endDetail: 'six\ufffdhours',
      endedAt: null,
      status: 'running',
    });
  });

  test('is recorded once for a hundred concurrent calls', async () => {
    const { runId } = await scenario.run();
    const given = Array.from({ length: 100 }, (_, n) => {
      const cause: EndCause = endCauses[n % endCauses.length] ?? 'exited';
      return { runId, cause, detail: `by ${n}` };
    });
    const stand = await Promise.all(
      given.map((request, n) => runs(n % 2 ? second() : database.pool).recordCause(request)),
    );
    const run = await runs().find(runId);
    expect(new Set(stand)).toEqual(new Set([run?.endCause]));
    expect(given).toContainEqual({ runId, cause: run?.endCause, detail: run?.endDetail });
  });

  test('of a run that has ended changes nothing', async () => {
    const { runId } = await scenario.run();
    const { run } = await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    const late = { runId, cause: 'stopped_by_api', detail: 'late' } as const;
    expect(await runs().recordCause(late)).toBe('completed');
    expect(await runs().find(runId)).toEqual(run);
  });

  test('cannot be taken for an unknown run', async () => {
    const nobody = { runId: randomUUID(), cause: 'stalled', detail: null } as const;
    expect(await runs().recordCause(nobody)).toBeNull();
  });
});

describe('a delete', () => {
  test('of an active run records its cause once, and does not end it', async () => {
    const { runId } = await scenario.run();
    const deletes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        runs(n % 2 ? second() : database.pool).markDeleted(runId),
      ),
    );
    const won = deletes.filter((run) => run !== null);
    expect(won).toEqual([await runs().find(runId)]);
    expect(won[0]).toMatchObject({ endCause: 'deleted_by_api', endedAt: null, status: 'running' });
    expect(await runs().markDeleted(runId)).toBeNull();
  });

  test('of a stopped run keeps that cause', async () => {
    const { runId } = await scenario.run();
    await runs().recordCause({ runId, cause: 'stopped_by_api', detail: null });
    expect(await runs().markDeleted(runId)).toMatchObject({ endCause: 'stopped_by_api' });
  });

  test('of an ended run only reports that', async () => {
    const { runId } = await scenario.run();
    const { run } = await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    expect(await runs().markDeleted(runId)).toEqual({ ...run, deletedAt: expect.any(Date) });
  });

  test('returns null for an unknown run', async () => {
    expect(await runs().markDeleted(randomUUID())).toBeNull();
  });
});
