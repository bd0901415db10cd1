// Receivers that hang use up the slots for backlogs. Each attempt to reach them is made all the
// same, at its time, and the webhook of another project is sent at once.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { startWebhook } from '../../systems/temporal/start-webhook.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { measureSlowdown } from '../support/processor-wait.ts';
import { createTenant, type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const { attempts, backlogSlots, backlogPerProject, delaysMs, attemptTimeoutMs } = limits.webhook;
/** More than a worker has slots for. */
const hangingCount = backlogSlots + backlogPerProject;
const timeoutMs = 240_000;
/** From the end of a run to the first attempt. Without separate slots, it waits for 20 s. */
const lateMs = 5_000;
/** How long an attempt in the backlog may wait for its slot, which four others have before it. */
const slotWaitMs = 4 * attemptTimeoutMs;

let service: Service;
let receiver: WebhookReceiver;
let other: ApiClient;

beforeAll(async () => {
  [service, receiver] = await Promise.all([
    startService({ env: { HOST_CAPACITY: '0' } }), // the runs end while they wait for a slot
    startReceiver((response, { path }) => {
      if (path === '/good') response.writeHead(204).end();
    }),
  ]);
  const { database, encryptionKey, url } = service;
  const tenant = await createTenant(database, encryptionKey);
  other = createApiClient({ url, ...tenant });
  await database.pool.query('update projects set max_concurrent_runs = 1000');
});
afterAll(async () => {
  await Promise.all([service?.stop(), receiver?.close()]);
});

/** Runs that have ended, with a workflow that delivers the webhook. */
async function startDeliveries(count: number): Promise<string[]> {
  const { rows } = await service.database.pool.query<{ id: string }>(
    `with made as (
       insert into runs (
         id, flow_id, project_id, trigger_type, prompt, key_name, key_created_by, timeout_seconds,
         status, workflow_id, ended_at, end_cause, callback_url, webhook_state, webhook_body,
         webhook_delivery_id
       )
       select gen_random_uuid(), $1, $2, 'api', '', 'ci', 'ana', 60, 'sleep', gen_random_uuid(),
              db_clock(), 'completed', $3, 'pending', '{}',
              gen_random_uuid()
       from generate_series(1, $4::integer)
       returning id
     )
     insert into run_logs (run_id) select id from made returning run_id as id`,
    [service.flowId, service.projectId, `${receiver.url}/hang`, count],
  );
  const runIds = rows.map(({ id }) => id);
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  const temporal = { client: new Client({ connection }), instance: service.instance };
  await Promise.all(runIds.map((runId) => startWebhook(temporal, { runId, firstAttempt: 1 })));
  await connection.close();
  return runIds;
}

async function stoppedRun(client: ApiClient, path: string): Promise<string> {
  const { runId } = await client.trigger({ prompt: 'x', callbackUrl: `${receiver.url}${path}` });
  const stopped = await client.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  expect(stopped.status).toBe(200);
  return runId;
}

interface Attempt {
  attempt: number;
  error: string | null;
  /** From the run's end or from the previous attempt. */
  waitedMs: number;
  tookMs: number;
}

async function attemptsOf(runIds: readonly string[]): Promise<Attempt[]> {
  const { rows } = await service.database.pool.query<Attempt>(
    `select attempt, error,
       1000 * extract(epoch from a.finished_at - a.started_at)::float8 as "tookMs",
       1000 * extract(epoch from a.started_at - coalesce(
         lag(a.finished_at) over (partition by run_id order by attempt), ended_at
       ))::float8 as "waitedMs"
     from webhook_attempts a join runs on id = run_id
     where run_id = any($1)`,
    [runIds],
  );
  return rows;
}

/** How much later than its delay an attempt began. */
const lateness = ({ attempt, waitedMs }: Pick<Attempt, 'attempt' | 'waitedMs'>): number =>
  waitedMs - (delaysMs[attempt - 2] ?? 0);

async function countRuns(condition: string): Promise<number> {
  const text = `select count(*)::integer from runs where ${condition}`;
  const { rows } = await service.database.pool.query<{ count: number }>(text);
  return rows[0]?.count ?? 0;
}

it('delays no webhook of another project while 301 receivers of a project hang', async () => {
  const hanging = await startDeliveries(hangingCount);
  // With as many undelivered webhooks, the project's own runs use the slots of the backlog.
  hanging.push(await stoppedRun(service, '/hang'));
  await expect
    .poll(() => receiver.posts.length, { timeout: timeoutMs, interval: 100 })
    .toBeGreaterThan(backlogSlots / 2);

  const slowdown = measureSlowdown(service.worker.pid());
  const good = await stoppedRun(other, '/good');
  await expect.poll(() => countRuns("webhook_state = 'delivered'"), { timeout: timeoutMs }).toBe(1);
  const [delivered] = await attemptsOf([good]);
  const factor = slowdown();
  console.info({ posts: receiver.posts.length, waitedMs: delivered?.waitedMs, factor });
  expect(delivered?.waitedMs).toBeLessThan(lateMs * factor);

  await expect
    .poll(() => countRuns("webhook_state = 'dropped'"), { timeout: timeoutMs, interval: 1_000 })
    .toBe(hanging.length);
  const overall = slowdown();
  const made = await attemptsOf(hanging);
  console.info({ made: made.length, latestMs: Math.max(...made.map(lateness)), overall });
  expect(made).toHaveLength(hanging.length * attempts);
  for (const { attempt, error, waitedMs, tookMs } of made) {
    expect(error).toBe('timed_out');
    expect(tookMs).toBeGreaterThan(attemptTimeoutMs - 100);
    expect(waitedMs).toBeGreaterThan((delaysMs[attempt - 2] ?? 0) - 100);
    expect(lateness({ attempt, waitedMs })).toBeLessThan((slotWaitMs + lateMs) * overall);
  }
  expect(receiver.posts.filter(({ path }) => path === '/hang')).toHaveLength(made.length);
});
