import { randomUUID } from 'node:crypto';
import { heartbeat } from '@temporalio/activity';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createTemporal } from '../../../../systems/temporal/client.ts';
import { admittedRun } from '../../../support/admitted-run.ts';
import { failureOf } from '../../../support/end-of-workflow.ts';
import { fakeRun } from '../../../support/fake-run.ts';
import { useTemporal } from './use-temporal.ts';

const { fixture, temporal, newRun } = useTemporal();

const canary = 'prompt-canary';

const describeRaw = async ({ workflowId }: Run) =>
  JSON.stringify((await fixture.client.workflow.getHandle(workflowId).describe()).raw);

describe('the workflow of a run', () => {
  it('starts once under concurrent starts', async () => {
    const fake = fakeRun();
    const run = newRun(fake);
    await Promise.all(Array.from({ length: 10 }, () => temporal.startRun(run)));
    expect(await temporal.describe(run.workflowId)).toBe('running');
    fake.end({});
    await fixture.client.workflow.getHandle(run.workflowId).result();
    expect(fake.calls.filter((name) => name === 'startSandbox')).toHaveLength(1);
  });

  it('is not started again after its end', async () => {
    const fake = fakeRun();
    const run = newRun(fake);
    await temporal.startRun(run);
    fake.end({});
    await fixture.client.workflow.getHandle(run.workflowId).result();
    expect(await temporal.startRun(run)).toBe('already');
    expect(await temporal.describe(run.workflowId)).toBe('closed');
  });

  it('receives a stop while it runs; afterwards the workflow is gone', async () => {
    const fake = fakeRun();
    const run = newRun(fake);
    await temporal.startRun(run);
    const recorded = { ...run, workflowStartedAt: new Date() };
    expect(await temporal.stopRun(recorded, { graceMs: 0 })).toBe('signalled');
    await failureOf(fixture.client.workflow.getHandle(run.workflowId));
    expect(await temporal.stopRun(recorded, { graceMs: 0 })).toBe('gone');
    expect(await temporal.describe(`run/${randomUUID()}`)).toBe('missing');
    expect(await temporal.hasFinished(run.workflowId)).toBe(true);
    expect(await temporal.hasFinished(`run/${randomUUID()}`)).toBe(false);
  });

  it('is started by a stop that arrives before its start, and ends', async () => {
    const fake = fakeRun();
    const run = newRun(fake);
    expect(await temporal.stopRun(run, { graceMs: 0 })).toBe('signalled');
    await temporal.startRun(run);
    await failureOf(fixture.client.workflow.getHandle(run.workflowId));
    expect(fake.calls).toContain('endRun');
    expect(await temporal.startRun(run)).toBe('already');
    expect(await temporal.stopRun(run, { graceMs: 0 })).toBe('gone');
  });

  it('receives each of ten concurrent starts and stops at most once', async () => {
    const fake = fakeRun();
    const run = newRun(fake);
    const calls = Array.from({ length: 10 }, () => [
      temporal.startRun(run),
      temporal.stopRun(run, { graceMs: 0 }),
    ]);
    await Promise.all(calls.flat());
    await failureOf(fixture.client.workflow.getHandle(run.workflowId));
    expect(fake.calls.filter((name) => name === 'endRun')).toHaveLength(1);
  });

  it('is not started by a stop if its start was recorded', async () => {
    const run = { ...newRun(fakeRun()), workflowStartedAt: new Date() };
    expect(await temporal.stopRun(run, { graceMs: 0 })).toBe('gone');
    expect(await temporal.describe(run.workflowId)).toBe('missing');
    await temporal.startRun(run);
    expect(await temporal.stopRun(run, { graceMs: 0 })).toBe('signalled');
    await failureOf(fixture.client.workflow.getHandle(run.workflowId));
  });

  it('can be terminated, and a second call changes nothing', async () => {
    const run = newRun(fakeRun());
    await temporal.startRun(run);
    expect(await temporal.hasFinished(run.workflowId)).toBe(false);
    await temporal.terminate(run.workflowId, 'test');
    await temporal.terminate(run.workflowId, 'test');
    expect(await temporal.hasFinished(run.workflowId)).toBe(false);
    expect(await temporal.describe(run.workflowId)).toBe('closed');
  });

  it('shows operators its state and no prompt text', async () => {
    const fake = fakeRun();
    const run = newRun(fake, { prompt: canary });
    await temporal.startRun(run);
    await fake.called('followRun');
    const handle = fixture.client.workflow.getHandle(run.workflowId);
    const { typedSearchAttributes } = await handle.describe();
    const found = typedSearchAttributes
      .getAll()
      .filter(({ key }) => !key.name.startsWith('BuildIds'))
      .map(({ key, value }) => [key.name, value]);
    expect(Object.fromEntries(found)).toMatchObject({
      ProjectId: 'project-1',
      FlowId: run.flowId,
      TriggerType: 'api',
      RunStatus: 'running',
      HostId: fixture.hostId,
    });
    const details = JSON.stringify(await handle.query('__temporal_workflow_metadata'));
    expect(details).toContain('following the agent');
    expect(details).toContain(`frs-${fixture.instance}-${run.runId}-1`);
    const raw = Buffer.from(await describeRaw(run)).toString();
    const plain = (raw.match(/"[A-Za-z0-9+/=]{8,}"/g) ?? []).map((text) =>
      Buffer.from(text.slice(1, -1), 'base64').toString(),
    );
    expect(plain.join()).toContain(`api run of flow ${run.flowId}`);
    expect(plain.join()).toContain(`**Prompt** ${canary.length} bytes`);
    const page = `https://runs.example/p/project-1/runs/${run.runId}`;
    expect(plain.join()).toContain(page);
    expect([raw, ...plain].join()).not.toContain(canary);
    fake.end({});
    await handle.result();
  });
});

describe('the workflow of a session', () => {
  const sessionRun = (fields: Partial<Run> = {}) => {
    const runId = randomUUID();
    return admittedRun({ runId, workflowId: `session/${runId}`, sessionId: 's', ...fields });
  };
  const signalsOf = async ({ workflowId }: Run) => {
    const { events } = await fixture.client.workflow.getHandle(workflowId).fetchHistory();
    return events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length;
  };

  it.each([
    ['has had no sandbox', null],
    ['has had a sandbox and Temporal has lost its workflow', new Date()],
  ])('is started by a message if the session %s', async (_what, startedAt) => {
    const run = sessionRun({ startedAt });
    onTestFinished(() => temporal.terminate(run.workflowId, 'test'));
    expect(await temporal.signalMessage(run, 'm-1')).toBe('signalled');
    expect(await temporal.describe(run.workflowId)).toBe('running');
    expect(await temporal.signalMessage({ ...run, startedAt: new Date() }, 'm-2')).toBe(
      'signalled',
    );
    // A signal during a workflow task is recorded after it.
    await expect.poll(() => signalsOf(run)).toBe(2);
    await temporal.terminate(run.workflowId, 'test');
    for (const again of [run, { ...run, startedAt: new Date() }]) {
      expect(await temporal.signalMessage(again, 'm-3')).toBe('gone');
    }
  });
});

describe('counting webhook attempts', () => {
  const withWebhook = async () =>
    ({ webhook: true, cause: 'completed', hasUnstoredFiles: false }) as const;

  it.each([
    ['was in progress', () => new Promise<never>(() => {}), 2],
    ['had failed', () => Promise.reject(new Error('refused')), 2],
  ])('works for a workflow that was terminated when an attempt %s', async (_, deliver, made) => {
    const fake = fakeRun({
      endRun: withWebhook,
      deliverWebhook: () => {
        heartbeat({ made });
        return deliver();
      },
    });
    const run = newRun(fake);
    await temporal.startRun(run);
    fake.end({});
    await fake.called('deliverWebhook');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await temporal.terminate(run.workflowId, 'test');
    expect(await temporal.webhookAttempts(run.workflowId)).toBe(made);
  });

  it('counts none that was not reported', async () => {
    const refused = () => Promise.reject(new Error('refused'));
    const fake = fakeRun({ endRun: withWebhook, deliverWebhook: refused });
    const run = newRun(fake);
    await temporal.startRun(run);
    fake.end({});
    await fake.called('deliverWebhook');
    await temporal.terminate(run.workflowId, 'test');
    expect(await temporal.webhookAttempts(run.workflowId)).toBe(0);
  });

  it('returns 0 without attempts or without a workflow', async () => {
    const run = newRun(fakeRun());
    await temporal.startRun(run);
    expect(await temporal.webhookAttempts(run.workflowId)).toBe(0);
    await temporal.terminate(run.workflowId, 'test');
    expect(await temporal.webhookAttempts(`run/${randomUUID()}`)).toBe(0);
  });
});

describe('the workflow of a webhook', () => {
  it('runs once: a second start finds the first', async () => {
    let attempts = 0;
    const fake = fakeRun({
      deliverWebhook: async ({ firstAttempt }) => {
        attempts += 1;
        await new Promise((resolve) => setTimeout(resolve, 500));
        return { status: 200 + firstAttempt };
      },
    });
    const { runId } = newRun(fake);
    const start = () => temporal.startWebhook({ runId, firstAttempt: 3 });
    await Promise.all([start(), start()]);
    const handle = fixture.client.workflow.getHandle(`webhook/${runId}/1`);
    expect(await handle.result()).toEqual({ delivered: true });
    expect(attempts).toBe(1);
    expect(await start()).toBe('already');
  });

  it('can be started again after it was terminated', async () => {
    const answers: Promise<{ status: number }>[] = [new Promise(() => {})];
    const fake = fakeRun({ deliverWebhook: async () => answers.shift() ?? { status: 204 } });
    const { runId } = newRun(fake);
    const start = () => temporal.startWebhook({ runId, firstAttempt: 1 });
    await start();
    await fake.called('deliverWebhook');
    await temporal.terminate(`webhook/${runId}/1`, 'test');
    expect(await start()).toBe('started');
    const handle = fixture.client.workflow.getHandle(`webhook/${runId}/1`);
    expect(await handle.result()).toEqual({ delivered: true });
  });
});

describe('an unreachable Temporal server', () => {
  it('fails each call at its deadline', async () => {
    const unreachable = createTemporal({
      namespace: 'default',
      connection: { address: '127.0.0.1:9' },
      instance: fixture.instance,
    });
    const start = performance.now();
    await expect(unreachable.check()).rejects.toThrow();
    await expect(unreachable.startRun(newRun(fakeRun()))).rejects.toThrow();
    expect(performance.now() - start).toBeLessThan(20_000);
    await unreachable.close();
  });
});
