import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import { claimNext } from '../../../../support/claim-next.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario, type Scenario } from '../../../../support/database-records.ts';
import { attemptsAge } from '../../../systems/postgres/attempts-age.ts';
import { endedWithWebhooks } from '../../../systems/postgres/ended-with-webhooks.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

const callbackUrl = 'https://receiver.example/';

describe('a pending webhook', () => {
  beforeEach(() => {
    fixture.deps.thresholds.webhookMs = 0;
  });

  async function endedRun() {
    const run = await fixture.started(await scenario.run({ callbackUrl }));
    await fixture.runs.endRun({ runId: run.runId, cause: 'completed', detail: null, exitCode: 0 });
    return run;
  }

  it('is left to its running workflow', async () => {
    await endedRun();
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([]);
  });

  it('continues with the remaining attempts if that workflow is gone', async () => {
    const run = await endedRun();
    await claimNext(fixture.deps.webhooks, run.runId);
    fixture.workflows.set(run.workflowId, 'closed');
    await fixture.reconciler.pass();
    expect(fixture.calls, 'the second is not due yet').toEqual([]);
    await attemptsAge(database, limits.webhook.attemptMaxMs + 2_000);
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`webhook ${run.runId} from 2`]);
  });

  it('is dropped when no attempt is left', async () => {
    const run = await endedRun();
    for (let attempt = 1; attempt <= limits.webhook.attempts; attempt += 1) {
      await claimNext(fixture.deps.webhooks, run.runId);
      await attemptsAge(database, 60_000);
    }
    fixture.workflows.set(run.workflowId, 'closed');
    await fixture.reconciler.pass();
    expect((await fixture.read(run)).webhook.state).toBe('dropped');
    expect(fixture.calls).toEqual([]);
  });
});

describe('many pending webhooks', () => {
  beforeEach(() => {
    fixture.deps.thresholds.webhookMs = 0;
  });

  /** Their workflows make the attempts, for example because the receiver hangs. */
  async function hanging(count: number, of: Scenario = scenario): Promise<string[]> {
    const ids = await endedWithWebhooks(database.pool, of, count);
    const { rows } = await database.pool.query<{ id: string }>(
      'select workflow_id as id from runs where id = any($1)',
      [ids],
    );
    for (const { id } of rows) fixture.workflows.set(id, 'running');
    return ids;
  }

  async function lostWorkflowOf(runId: string): Promise<void> {
    const { rows } = await database.pool.query<{ id: string }>(
      'select workflow_id as id from runs where id = $1',
      [runId],
    );
    fixture.workflows.set(rows[0]?.id ?? '', 'closed');
  }

  it('of one project delay none of another', async () => {
    await hanging(1_000);
    const other = await createScenario(database.pool, testSealer);
    const [runId = ''] = await endedWithWebhooks(database.pool, other, 1);
    await lostWorkflowOf(runId);
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`webhook ${runId} from 1`]);
  });

  it('of one project delay its others by no more passes than they fill', async () => {
    const ids = await hanging(1_000);
    const runId = ids.at(-1) ?? '';
    await lostWorkflowOf(runId);
    const passes = ids.length / limits.reconciler.webhooksPerPass;
    for (let pass = 1; pass <= passes; pass += 1) await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`webhook ${runId} from 1`]);
  });

  it('of two projects delay the others of each by no more passes than they fill', async () => {
    const other = await createScenario(database.pool, testSealer);
    const ids = [await hanging(500), await hanging(500, other)];
    const last = ids.map((ofProject) => ofProject.at(-1) ?? '');
    for (const runId of last) await lostWorkflowOf(runId);
    const passes = ids.flat().length / limits.reconciler.webhooksPerPass;
    for (let pass = 1; pass <= passes; pass += 1) await fixture.reconciler.pass();
    const resumed = last.map((runId) => `webhook ${runId} from 1`);
    expect(fixture.calls.toSorted()).toEqual(resumed.toSorted());
  });

  it('of more projects than a pass takes delay none of the others for longer than one pass', async () => {
    const ids = new Map<string, string>();
    for (let made = 0; made <= limits.reconciler.webhooksPerPass; made += 1) {
      const each = await createScenario(database.pool, testSealer);
      const [runId = ''] = await endedWithWebhooks(database.pool, each, 1);
      await database.pool.query(`update runs set workflow_id = $1 where id = $1::text::uuid`, [
        runId,
      ]);
      fixture.workflows.set(runId, 'running');
      ids.set(each.projectId, runId);
    }
    const last = ids.get([...ids.keys()].toSorted().at(-1) ?? '') ?? '';
    fixture.workflows.set(last, 'closed');
    await fixture.reconciler.pass();
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`webhook ${last} from 1`]);
  });

  it('are taken first by the next pass if there was no time for them', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const ids = await hanging(40);
    const described: string[] = [];
    fixture.deps.temporal.describe = async (workflowId) => {
      described.push(workflowId);
      vi.advanceTimersByTime(limits.reconciler.stepMaxMs / 4);
      return 'running';
    };
    for (let pass = 0; pass < 3; pass += 1) await fixture.reconciler.pass();
    const { rows } = await database.pool.query<{ workflowId: string }>(
      'select workflow_id as "workflowId" from runs where id = any($1) order by ended_at',
      [ids],
    );
    const first = rows.slice(0, described.length).map(({ workflowId }) => workflowId);
    expect(described.length).toBeLessThan(ids.length);
    expect(described.toSorted()).toEqual(first.toSorted());
  });
});

describe('a redelivery', () => {
  async function claimed() {
    const { runId } = await fixture.started(await scenario.run({ callbackUrl }));
    await fixture.runs.endRun({ runId, cause: 'stopped_by_api', detail: null, exitCode: null });
    const { webhooks } = fixture.deps;
    await webhooks.drop(runId);
    expect(await webhooks.claimRedelivery(runId)).toBe(1);
    fixture.deps.thresholds.webhookMs = -1_000;
    return { runId, webhooks };
  }

  it('is started if the process that claimed it died before it started one, and only once', async () => {
    const { runId } = await claimed();
    for (let n = 0; n < 3; n += 1) await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`redelivery 1 of ${runId} from 1`]);
  });

  it('is left alone once it was started, and a later one is not mistaken for it', async () => {
    const { runId, webhooks } = await claimed();
    await webhooks.markRedeliveryStarted(runId, 1);
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([]);
    expect(await webhooks.claimRedelivery(runId)).toBe(2);
    await webhooks.markRedeliveryStarted(runId, 1);
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`redelivery 2 of ${runId} from 1`]);
  });

  it('is started at the next pass if Temporal is unavailable', async () => {
    const { runId } = await claimed();
    const { startWebhook } = fixture.deps.temporal;
    fixture.deps.temporal.startWebhook = () => Promise.reject(new Error('unavailable'));
    await fixture.reconciler.pass();
    fixture.deps.temporal.startWebhook = startWebhook;
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`redelivery 1 of ${runId} from 1`]);
  });
});
