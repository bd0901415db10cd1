import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import {
  type ListedWorkflow,
  type WorkflowsSincePage,
  workflowsSince,
} from '../../../../systems/temporal/workflows-since.ts';
import { fakeRun } from '../../../support/fake-run.ts';
import { useTemporal } from './use-temporal.ts';

const { fixture, temporal, newRun } = useTemporal();

describe('listing workflows since a time', () => {
  async function all(
    read: (after: Uint8Array | null) => Promise<WorkflowsSincePage>,
  ): Promise<ListedWorkflow[][]> {
    const pages: ListedWorkflow[][] = [];
    let after: Uint8Array | null = null;
    do {
      const page: WorkflowsSincePage = await read(after);
      pages.push(page.workflows);
      after = page.next;
    } while (after !== null);
    return pages;
  }
  const seen = async (since: Date) =>
    (await all((after) => temporal.workflowsSince(since, after))).flat();

  it('returns open and closed workflows with their runs, and none closed before', async () => {
    const [before, over, open] = [newRun(fakeRun()), newRun(fakeRun()), newRun(fakeRun())];
    await temporal.startRun(before);
    await temporal.terminate(before.workflowId, 'test');
    await sleep(10);
    const since = new Date();
    for (const run of [over, open]) await temporal.startRun(run);
    await temporal.terminate(over.workflowId, 'test');
    const stateOf = async ({ workflowId }: Run) =>
      (await seen(since)).find((each) => each.workflowId === workflowId)?.isOpen;
    await expect.poll(() => stateOf(over), { timeout: 10_000 }).toBe(false);
    await expect.poll(() => stateOf(open), { timeout: 10_000 }).toBe(true);
    expect(await stateOf(before)).toBeUndefined();
    const { runId, flowId, projectId, triggerType, timeoutSeconds } = over;
    expect(await seen(since)).toContainEqual({
      workflowId: over.workflowId,
      isOpen: false,
      startedAt: expect.any(Date),
      closedAt: expect.any(Date),
      run: { runId, flowId, projectId, triggerType, timeoutSeconds },
    });
    await temporal.terminate(open.workflowId, 'test');
  });

  it('returns them page by page', async () => {
    const since = new Date();
    const runs = Array.from({ length: 5 }, () => newRun(fakeRun()));
    for (const run of runs) await temporal.startRun(run);
    const { client, instance } = fixture;
    const pages = () =>
      all((after) => workflowsSince({ client, instance }, { since, after, pageSize: 2 }));
    const found = async () =>
      (await pages())
        .flat()
        .map(({ workflowId }) => workflowId)
        .sort();
    const started = runs.map(({ workflowId }) => workflowId).sort();
    await expect.poll(found, { timeout: 10_000 }).toEqual(started);
    expect((await pages()).map((page) => page.length)).toEqual([2, 2, 1]);
    for (const { workflowId } of runs) await temporal.terminate(workflowId, 'test');
  });
});
