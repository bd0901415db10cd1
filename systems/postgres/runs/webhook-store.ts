// A delivery has several attempts. An attempt is claimed before it is made, by a row that only one
// caller can insert. If the worker dies in between, the attempt is used up, so no attempt is made
// twice.

import type { WebhookState } from '../../../core/runs/run.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import { ensureWebhookSecret } from '../accounts/webhook-secret.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';

interface Delivery {
  url: string;
  body: string;
  deliveryId: string;
  /** The API request that started the run. */
  requestId: string | null;
}

export type ClaimedAttempt =
  | (Delivery & { secret: string; attempt: number })
  /** Nothing to send: it was delivered before. */
  | { done: number }
  /** Nothing to send: another caller made this attempt, or the run has no pending webhook. */
  | { unavailable: 'taken' | 'none' }
  /** The run has not ended yet. */
  | { unended: true };

export interface AttemptResult {
  /** Null if no response arrived. */
  status: number | null;
  error: string | null;
  delivery?: number;
}

export interface MadeAttempt {
  /** 0: the delivery at the run's end; n: the n-th that an operator requested. */
  delivery: number;
  attempt: number;
  startedAt: Date;
  /** Null while it is in progress, and if its outcome was lost. */
  finishedAt: Date | null;
  status: number | null;
  error: string | null;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;

export function createWebhookStore(pool: Pool, sealer: Sealer) {
  return {
    /**
     * Attempts count from 1. `delivery` is 0 at the run's end, and n for the n-th that an operator
     * requested, which is made regardless of earlier results.
     */
    claimAttempt: (runId: string, attempt: number, delivery = 0) =>
      claimAttempt(pool, sealer, { runId, attempt, delivery }),
    /** A status of 2xx completes the delivery. */
    recordAttempt: (runId: string, attempt: number, result: AttemptResult) =>
      recordAttempt(pool, { runId, attempt, delivery: result.delivery ?? 0 }, result),
    /** All attempts, in their order. */
    attempts: (runId: string) => listAttempts(pool, runId),
    /**
     * The number of a further delivery, requested by an operator. Null if the first one is in
     * progress or was never made.
     */
    claimRedelivery: (runId: string) => claimRedelivery(pool, runId),
    /** The redelivery's workflow was started. Without this mark, the reconciler starts it. */
    markRedeliveryStarted: (runId: string, delivery: number) =>
      markRedeliveryStarted(pool, runId, delivery),
    /** No further attempt is made. A successful delivery stays successful. */
    drop: (runId: string) => dropWebhook(pool, runId),
  };
}

interface AttemptId {
  runId: string;
  attempt: number;
  delivery: number;
}

async function claimAttempt(pool: Pool, sealer: Sealer, id: AttemptId): Promise<ClaimedAttempt> {
  const webhook = await readState(pool, id.runId);
  if (webhook?.state === 'waiting') return { unended: true };
  if (webhook === null || !webhook.has_body) return { unavailable: 'none' };
  if (webhook.state === 'delivered' && id.delivery === 0) return { done: webhook.last_status ?? 0 };
  // Before the claim, so that a failure here does not use up the attempt.
  const secret = await ensureWebhookSecret(pool, sealer, webhook.project_id);
  const claimed = await insertAttempt(pool, id);
  return claimed ? { ...claimed, secret, attempt: id.attempt } : { unavailable: 'taken' };
}

interface WebhookRow {
  project_id: string;
  state: WebhookState;
  has_body: boolean;
  last_status: number | null;
}

async function readState(db: Db, runId: string): Promise<WebhookRow | null> {
  const { rows } = await db.query<WebhookRow>(
    `select project_id, webhook_state as state, webhook_body is not null as has_body,
       webhook_last_status as last_status
     from runs where id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}

async function insertAttempt(
  db: Db,
  { runId, attempt, delivery }: AttemptId,
): Promise<Delivery | null> {
  const { rows } = await db.query<Delivery>(
    `with claimed as (
       insert into webhook_attempts (run_id, delivery, attempt)
       select id, $3, $2 from runs
       where id = $1 and (webhook_state = 'pending' or $3 > 0)
       on conflict do nothing
       returning run_id
     )
     update runs r set webhook_attempts = r.webhook_attempts + 1 from claimed
     where r.id = claimed.run_id
     returning r.callback_url as url, r.webhook_body as body,
               r.webhook_delivery_id as "deliveryId", r.request_id as "requestId"`,
    [runId, attempt, delivery],
  );
  return rows[0] ?? null;
}

async function recordAttempt(db: Db, id: AttemptId, result: AttemptResult): Promise<void> {
  await db.query(
    `with recorded as (
       update webhook_attempts set finished_at = db_clock(), status = $4, error = $5
       where run_id = $1 and delivery = $3 and attempt = $2
       returning run_id
     )
     update runs r
     set webhook_last_status = $4,
         webhook_state = case when $4 between 200 and 299 then 'delivered' else webhook_state end
     from recorded
     where r.id = recorded.run_id and r.webhook_state <> 'delivered'`,
    [
      id.runId,
      id.attempt,
      id.delivery,
      result.status,
      result.error && stripUnstorable(result.error),
    ],
  );
}

async function dropWebhook(db: Db, runId: string): Promise<void> {
  const text = `
    update runs set webhook_state = 'dropped' where id = $1 and webhook_state = 'pending'`;
  await db.query(text, [runId]);
}

async function listAttempts(db: Db, runId: string): Promise<MadeAttempt[]> {
  const { rows } = await db.query<MadeAttempt>(
    `select delivery, attempt, started_at as "startedAt", finished_at as "finishedAt", status, error
     from webhook_attempts where run_id = $1
     order by delivery, attempt`,
    [runId],
  );
  return rows;
}

async function claimRedelivery(db: Db, runId: string): Promise<number | null> {
  const { rows } = await db.query<{ delivery: number }>(
    `update runs set webhook_redeliveries = webhook_redeliveries + 1,
                     webhook_redelivery_claimed_at = db_clock()
     where id = $1 and webhook_state in ('delivered', 'dropped') and webhook_body is not null
     returning webhook_redeliveries as delivery`,
    [runId],
  );
  return rows[0]?.delivery ?? null;
}

async function markRedeliveryStarted(db: Db, runId: string, delivery: number): Promise<void> {
  const text = `
    update runs set webhook_redelivery_claimed_at = null
    where id = $1 and webhook_redeliveries = $2`;
  await db.query(text, [runId, delivery]);
}
