import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  type ClosedWorkflowsPage,
  closedWorkflows,
} from '../../../../systems/temporal/closed-workflows.ts';
import { fakeRun } from '../../../support/fake-run.ts';
import { useTemporal } from './use-temporal.ts';

const { fixture, temporal, newRun } = useTemporal();

/** Temporal lists a closed workflow with a delay. */
const patiently = { timeout: 10_000 };

async function terminated(): Promise<string> {
  const run = newRun(fakeRun());
  await temporal.startRun(run);
  await temporal.terminate(run.workflowId, 'test');
  return run.workflowId;
}

it('lists terminated workflows, and none that runs, has ended its run or was closed before', async () => {
  await terminated();
  await sleep(10);
  const since = new Date();
  const fakes = [fakeRun(), fakeRun(), fakeRun()];
  const open = newRun(fakeRun());
  const ended = fakes.map((fake) => newRun(fake));
  for (const run of [open, ...ended]) await temporal.startRun(run);
  const causes = ['completed', 'exited', 'stopped_by_api'] as const;
  for (const [i, cause] of causes.entries()) fakes[i]?.end({ cause });
  for (const { workflowId } of ended) {
    await expect.poll(() => temporal.describe(workflowId), patiently).toBe('closed');
    expect(await temporal.hasFinished(workflowId)).toBe(true);
  }
  const listed = () => temporal.closedWorkflows(since, null);
  const closed = await terminated();
  await expect.poll(listed, patiently).toEqual({ workflowIds: [closed], next: null });
  await temporal.terminate(open.workflowId, 'test');
});

it('lists them page by page', async () => {
  const since = new Date();
  const ids = [await terminated(), await terminated(), await terminated()];
  const { client, instance } = fixture;
  async function pages(): Promise<string[][]> {
    const read: string[][] = [];
    let after: Uint8Array | null = null;
    do {
      const page: ClosedWorkflowsPage = await closedWorkflows(
        { client, instance },
        { since, after, pageSize: 2 },
      );
      read.push(page.workflowIds);
      after = page.next;
    } while (after !== null);
    return read;
  }
  await expect.poll(async () => (await pages()).flat().sort(), patiently).toEqual(ids.sort());
  expect((await pages()).map((page) => page.length)).toEqual([2, 1]);
});
