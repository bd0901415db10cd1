// The failpoints that a run passes only if it is ended from outside or has to wait.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTemporal, type Temporal } from '../../systems/temporal/client.ts';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { openConversation } from '../support/conversation.ts';
import {
  restartAfterFailpoint,
  restartStopped,
  restartWithFailpoint,
} from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { stackEnv } from '../support/stack-env.ts';
import { failpointsOf } from './support/failpoints-of.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { waitForRecovery } from './support/wait-for-recovery.ts';

let fixture: FaultFixture;
let temporal: Temporal;
beforeAll(async () => {
  fixture = await startFaultFixture({ env: { HOST_CAPACITY: '1', RECONCILE_EVERY_MS: '1000' } });
  temporal = createTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
    instance: fixture.service.instance,
  });
});
beforeEach(() => restartStopped(fixture.service));
afterAll(async () => {
  await temporal?.close();
  await fixture?.stop();
});

const timeoutMs = 120_000;
const once = { created: 1, started: 1, removed: 1 };
/** Ignores interrupts, the end of its input, and SIGTERM. */
const ignoresSignals = script([
  { deaf: true },
  { trapTerm: true },
  { say: 'working' },
  { hang: true },
]);
const hanging = script([{ say: 'working' }, { hang: true }]);

async function runAtWork(prompt: string) {
  const runId = await fixture.trigger(prompt);
  const client = fixture.follow(runId, { name: 'steady client' });
  await client.untilFrames(3, timeoutMs);
  return { runId, client };
}

const stop = (runId: string) =>
  fixture.service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 1 } });

describe('a run that is stopped while its worker dies', () => {
  it.each(failpointsOf('cause', 'stop'))('at %s ends as requested', async (name) => {
    const { service, containers } = fixture;
    await restartWithFailpoint(service.worker, name);
    const { runId, client } = await runAtWork(ignoresSignals);
    expect((await stop(runId)).status).toBe(200);
    const startedAt = await restartAfterFailpoint(service.worker);
    const { run, posts } = await waitForRecovery(fixture, runId, { clients: [client], startedAt });
    expect(run.endCause).toBe('stopped_by_api');
    expect(containers.of(runId)).toEqual(once);
    expect(posts).toHaveLength(1);
  });
});

describe('a run whose workflow an operator ends while the worker dies', () => {
  const atEnd = failpointsOf('reconcile').filter((name) => name !== 'reconcile.started');
  it.each(atEnd)('at %s ends once', async (name) => {
    const { service, containers } = fixture;
    await restartWithFailpoint(service.worker, name);
    const { runId, client } = await runAtWork(hanging);
    await temporal.terminate(`run/${runId}`, 'by hand');
    const startedAt = await restartAfterFailpoint(service.worker);
    const { run, posts } = await waitForRecovery(fixture, runId, { clients: [client], startedAt });
    expect(run.endCause).toBe('terminated_by_operator');
    expect(containers.of(runId)).toEqual(once);
    expect(posts).toHaveLength(1);
  });
});

describe('a session that is put to sleep while its worker dies', () => {
  it.each(failpointsOf('sleep'))('at %s runs its next message once', async (name) => {
    const { service } = fixture;
    const chat = await openConversation(service);
    const sent = [(await chat.say(script([{ say: 'One.' }]))).messageId];
    await restartWithFailpoint(service.worker, name);
    await temporal.signalSleep(`session/${chat.runId}`);
    await restartAfterFailpoint(service.worker, async () => {
      sent.push(await chat.send(script([{ say: 'Two.' }])));
    });
    expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ texts: ['Two.'] });
    assertExactlyOnce(chat, sent);
    await endSession(service, chat);
  });
});

describe('a run that has to wait', () => {
  it.each(failpointsOf('slot'))('for a slot starts once if the worker dies at %s', async (name) => {
    const { service, containers } = fixture;
    await restartWithFailpoint(service.worker, name);
    const before = await runAtWork(hanging);
    const runId = await fixture.trigger('nothing but an echo');
    const client = fixture.follow(runId, { name: 'reader' });
    expect((await stop(before.runId)).status).toBe(200);
    const startedAt = await restartAfterFailpoint(service.worker);
    const { run } = await waitForRecovery(fixture, runId, { clients: [client], startedAt });
    expect(run).toMatchObject({ endCause: 'completed', exitCode: 0 });
    expect(containers.of(runId)).toEqual(once);
    await waitForRecovery(fixture, before.runId, { clients: [before.client], startedAt });
  });

  it('starts once for a client if the API is killed too', async () => {
    const { service, containers } = fixture;
    await restartWithFailpoint(service.worker, 'reconcile.started');
    await restartWithFailpoint(service.api, 'trigger.admitted');
    const body = { prompt: 'nothing but an echo', callbackUrl: `${fixture.receiver.url}/hook` };
    const headers = { 'idempotency-key': 'waits' };
    const trigger = () =>
      service.call<{ runId: string }>('POST', `/flows/${service.flowId}/runs`, { body, headers });
    await expect(trigger()).rejects.toThrow();
    await restartAfterFailpoint(service.api);
    const startedAt = await restartAfterFailpoint(service.worker);
    const { runId } = (await trigger()).data;
    const { run } = await waitForRecovery(fixture, runId, { clients: [], startedAt });
    expect(run).toMatchObject({ endCause: 'completed', exitCode: 0 });
    expect(containers.of(runId)).toEqual(once);
  });
});
