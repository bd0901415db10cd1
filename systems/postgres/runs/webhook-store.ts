// A delivery has several attempts, each claimed before it is made.

import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { type AttemptClaim, claimAttempt } from './claim-attempt.ts';

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
     * Claims the attempt after the last one, once it is due. Attempts count from 1. A delivery that
     * an operator requested is made regardless of the results of others.
     */
    claimAttempt: (claim: AttemptClaim) => claimAttempt(pool, sealer, claim),
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
