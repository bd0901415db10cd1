import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import type { AttemptClaim } from '../../../../systems/postgres/runs/claim-attempt.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../../../../systems/postgres/runs/webhook-store.ts';
import { claimNext } from '../../../support/claim-next.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { attemptsAge } from './attempts-age.ts';
import { endedWithWebhooks } from './ended-with-webhooks.ts';
import { setupScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const second = useSecondPool(database);

const url = 'https://hooks.example/run?token=t';
const webhooks = (pool = database.pool) => createWebhookStore(pool, testSealer);
const runs = () => createRunStore(database.pool, testSealer);
const refused = { status: 500, error: null };
const longAgoMs = 60_000;
const claim = (runId: string, own: Partial<AttemptClaim> = {}) => claimNext(webhooks(), runId, own);

/** After the delay of the last attempt. */
async function claimLater(runId: string, own: Partial<AttemptClaim> = {}) {
  await attemptsAge(database, longAgoMs);
  return claim(runId, own);
}

async function endedRun(): Promise<string> {
  const { runId } = await scenario.run({ callbackUrl: url });
  await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  return runId;
}

const webhookOf = async (runId: string) => (await runs().find(runId))?.webhook;

test('every attempt sends the same body under the same delivery id, signed with one secret', async () => {
  const runId = await endedRun();
  const projects = createProjectStore(database.pool, testSealer);
  const { secret } = await projects.ensureWebhookSecrets(scenario.projectId);
  const first = await claim(runId);
  expect(first).toEqual({
    ...{ event: 'run.finished', runId },
    ...{ url, secret, nextSecret: null, attempt: 1 },
    body: expect.stringContaining(`"runId":"${runId}"`),
    deliveryId: expect.any(String),
    requestId: null,
  });
  await webhooks().recordAttempt(runId, 1, refused);
  expect(await claimLater(runId)).toEqual({ ...first, attempt: 2 });
  expect(await webhookOf(runId)).toEqual({ state: 'pending', attempts: 2, lastStatus: 500 });
});

test('the webhook of a session reports its end; without a callback URL there is none', async () => {
  const end = async (callbackUrl: string | null) => {
    const { runId, sessionId } = await scenario.session({ callbackUrl });
    await runs().endRun({ runId, cause: 'timed_out', detail: null, exitCode: null });
    return { runId, sessionId };
  };
  const { runId, sessionId } = await end(url);
  const body = expect.stringContaining(`"sessionId":"${sessionId}"}`);
  expect(await claim(runId)).toMatchObject({ event: 'session.ended', url, body, attempt: 1 });
  expect(await claim((await end(null)).runId)).toEqual({ unavailable: 'none' });
});

test('one of forty concurrent claims of an attempt succeeds', async () => {
  const runId = await endedRun();
  const claims = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      claimNext(webhooks(n % 2 ? second() : database.pool), runId),
    ),
  );
  expect(claims.filter((made) => 'url' in made)).toHaveLength(1);
  expect(claims.filter((made) => 'unavailable' in made || 'dueInMs' in made)).toHaveLength(39);
  expect(await webhookOf(runId)).toMatchObject({ attempts: 1 });
});

test('a delivered webhook is not sent again, and a late failure changes nothing', async () => {
  const runId = await endedRun();
  await claim(runId);
  await claimLater(runId);
  await webhooks().recordAttempt(runId, 2, { status: 204, error: null });
  await webhooks().recordAttempt(runId, 1, { status: null, error: 'reset\0' });
  await webhooks().drop(runId);
  expect(await webhookOf(runId)).toEqual({ state: 'delivered', attempts: 2, lastStatus: 204 });
  expect(await claim(runId)).toEqual({ done: 204 });
  const { rows } = await database.pool.query(
    'select attempt, status, error from webhook_attempts where run_id = $1 order by attempt',
    [runId],
  );
  expect(rows).toEqual([
    { attempt: 1, status: null, error: 'reset\ufffd' },
    { attempt: 2, status: 204, error: null },
  ]);
});

test.each([199, 300, 302, 404, 500])(
  'a status of %i does not count as delivered',
  async (status) => {
    const runId = await endedRun();
    await claim(runId);
    await webhooks().recordAttempt(runId, 1, { status, error: null });
    expect(await webhookOf(runId)).toEqual({ state: 'pending', attempts: 1, lastStatus: status });
  },
);

test('a dropped webhook is sent again only on request of an operator', async () => {
  const runId = await endedRun();
  await claim(runId);
  await webhooks().drop(runId);
  expect(await webhookOf(runId)).toMatchObject({ state: 'dropped' });
  expect(await claim(runId)).toEqual({ unavailable: 'none_left' });
  const again = await claim(runId, { delivery: 1 });
  expect(again).toMatchObject({ attempt: 1, url });
  expect(await claim(runId, { delivery: 1 })).toEqual({ dueInMs: expect.any(Number) });
  await webhooks().recordAttempt(runId, 1, { status: 200, error: null, delivery: 1 });
  expect(await webhookOf(runId)).toEqual({ state: 'delivered', attempts: 2, lastStatus: 200 });
});

test('a delivered webhook is sent again on request, each time under its own number', async () => {
  const runId = await endedRun();
  expect(await webhooks().claimRedelivery(runId)).toBeNull();
  await claim(runId);
  await webhooks().recordAttempt(runId, 1, { status: 204, error: null });
  const numbers = await Promise.all([1, 2, 3].map(() => webhooks().claimRedelivery(runId)));
  expect(numbers.sort()).toEqual([1, 2, 3]);
  expect(await claim(runId)).toEqual({ done: 204 });
  expect(await claim(runId, { delivery: 2 })).toMatchObject({ url, attempt: 1 });
  expect(await claim(runId, { delivery: 2 })).toEqual({ dueInMs: expect.any(Number) });
  await webhooks().recordAttempt(runId, 1, { status: 500, error: null, delivery: 2 });
  expect(await webhookOf(runId)).toEqual({ state: 'delivered', attempts: 2, lastStatus: 204 });
  expect(await claim(runId, { delivery: 3 })).toMatchObject({ url, attempt: 1 });
  await webhooks().recordAttempt(runId, 1, { status: 202, error: null, delivery: 3 });
  expect(await claim(runId, { delivery: 3 }), 'it was answered').toEqual({ done: 202 });
  const made = await webhooks().attempts(runId);
  expect(made.map(({ delivery, attempt, status }) => [delivery, attempt, status])).toEqual([
    [0, 1, 204],
    [2, 1, 500],
    [3, 1, 202],
  ]);
});

test('there is no webhook before the end, without a callback, or for an unknown run', async () => {
  const live = await scenario.run({ callbackUrl: url });
  expect(await claim(live.runId)).toEqual({ unended: true });
  const quietly = await scenario.run();
  const quiet = await scenario.run();
  await runs().endRun({ runId: quiet.runId, cause: 'completed', detail: null, exitCode: 0 });
  for (const runId of [quietly.runId, quiet.runId, randomUUID()]) {
    expect(await claim(runId)).toEqual({ unavailable: 'none' });
  }
});

test('a deleted run still has its webhook delivered', async () => {
  const { runId } = await scenario.run({ callbackUrl: url });
  await runs().markDeleted(runId);
  await runs().endRun({ runId, cause: 'exited', detail: null, exitCode: 143 });
  expect(await claim(runId)).toMatchObject({
    body: expect.stringContaining('"error":"deleted_by_api"'),
  });
});

test('fifty concurrent first deliveries create one secret', async () => {
  const { projectId } = await createScenario(database.pool, testSealer);
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      createProjectStore(n % 2 ? second() : database.pool, testSealer).ensureWebhookSecrets(
        projectId,
      ),
    ),
  );
  expect(new Set(all.map(({ secret }) => secret)).size).toBe(1);
  expect(all[0]?.secret).toMatch(/^whs_[A-Za-z0-9_-]{43}$/);
});

test('fifty concurrent rotations begin with one next secret, which then replaces the first', async () => {
  const { projectId } = await createScenario(database.pool, testSealer);
  const projects = [database.pool, second()].map((pool) => createProjectStore(pool, testSealer));
  const secrets = await Promise.all(
    Array.from({ length: 25 }, () => projects).flatMap((both) =>
      both.map((store) => store.prepareNextWebhookSecret(projectId)),
    ),
  );
  expect(new Set(secrets).size).toBe(1);
  const [next] = secrets;
  expect(await projects[0]?.ensureWebhookSecrets(projectId)).toMatchObject({ nextSecret: next });
  const rotated = await Promise.all(
    Array.from({ length: 25 }, () => projects).flatMap((both) =>
      both.map((store) => store.rotateWebhookSecret(projectId)),
    ),
  );
  expect(rotated.filter((secret) => secret !== null)).toEqual([next]);
  expect(await projects[0]?.ensureWebhookSecrets(projectId)).toEqual({
    ...{ secret: next, nextSecret: null },
  });
});

test('throws for the secret of an unknown project', async () => {
  const projects = createProjectStore(database.pool, testSealer);
  await expect(projects.ensureWebhookSecrets('nowhere')).rejects.toThrow('no project');
});

test('of a project with 50 undelivered webhooks, further ones are the backlog', async () => {
  const crowded = await createScenario(database.pool, testSealer);
  const end = async (runId: string) =>
    (await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 }))
      .hasWebhookBacklog;
  const { backlogPerProject } = limits.webhook;
  const all = await Promise.all(
    Array.from({ length: backlogPerProject + 1 }, () => crowded.run({ callbackUrl: url })),
  );
  const answers: boolean[] = [];
  for (const { runId } of all) answers.push(await end(runId));
  expect(answers).toEqual([...Array(backlogPerProject).fill(false), true]);
  const [first, last] = [all[0]?.runId ?? '', all.at(-1)?.runId ?? ''];
  expect(await end(last)).toBe(true);
  expect(await end((await scenario.run({ callbackUrl: url })).runId)).toBe(false);
  expect(await end((await crowded.run()).runId)).toBe(false);
  await webhooks().drop(first);
  await webhooks().drop(all[1]?.runId ?? '');
  expect(await end((await crowded.run({ callbackUrl: url })).runId)).toBe(false);
});

test('projects share the common slots, so that each has some left', async () => {
  const end = async (of: Scenario) => {
    const { runId } = await of.run({ callbackUrl: url });
    return (await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 }))
      .hasWebhookBacklog;
  };
  const [crowd, one, other] = [
    await createScenario(database.pool, testSealer),
    await createScenario(database.pool, testSealer),
    await createScenario(database.pool, testSealer),
  ];
  const text = `update runs set webhook_uses_common_slots = true, ended_at = db_clock() - $2 * interval '1 s'
                where id = any ($1)`;
  const ofOthers = await endedWithWebhooks(database.pool, crowd, 195);
  await database.pool.query('update runs set webhook_uses_common_slots = false');
  await database.pool.query(text, [ofOthers, 0]);
  const backlogs: boolean[] = [];
  for (let count = 0; count < 5; count += 1) backlogs.push(await end(one));
  expect(backlogs).toEqual([false, false, false, true, true]);
  expect(await end(other)).toBe(false);
  // All attempts take less time, so these were resumed in the slots for backlogs.
  await database.pool.query(text, [ofOthers, 3 * 60]);
  expect(await end(one)).toBe(false);
});
