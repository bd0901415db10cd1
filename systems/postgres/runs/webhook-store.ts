// A delivery has several attempts, each claimed before it is made.

import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { type AttemptClaim, claimAttempt, type DeliveryTables } from './claim-attempt.ts';
import { endEvent } from './end-run.ts';
import { listAttempts, type MadeAttempt } from './list-attempts.ts';
import { type AttemptResult, recordAttempt } from './record-attempt.ts';

const tables: DeliveryTables = {
  deliveries: 'runs',
  attempts: 'webhook_attempts',
  id: 'run_id',
  prefix: 'webhook_',
  sent: `${endEvent} as event, r.id as "runId", r.callback_url as url, r.webhook_body as body,
    r.webhook_delivery_id as "deliveryId", r.request_id as "requestId"`,
};

export type WebhookStore = ReturnType<typeof createWebhookStore>;

export function createWebhookStore(pool: Pool, sealer: Sealer) {
  return {
    /**
     * Claims the attempt after the last one, once it is due. Attempts count from 1. A delivery that
     * an operator requested is made regardless of the results of others.
     */
    claimAttempt: (claim: AttemptClaim) => claimAttempt({ pool, sealer, tables }, claim),
    /** A status of 2xx completes the delivery. */
    recordAttempt: (runId: string, attempt: number, result: AttemptResult) =>
      recordAttempt(pool, tables, { id: runId, attempt, ...result }),
    /** All attempts, in their order. */
    attempts: (runId: string): Promise<MadeAttempt[]> => listAttempts(pool, tables, runId),
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

/** The requests of operators within a transaction. */
export type RedeliveryRequests = ReturnType<typeof createRedeliveryRequests>;

export const createRedeliveryRequests = (db: Db) => ({
  claimRedelivery: (runId: string) => claimRedelivery(db, runId),
});

async function dropWebhook(db: Db, runId: string): Promise<void> {
  await db.query(
    `with dropped as (
       update runs set webhook_state = 'dropped' where id = $1 and webhook_state = 'pending'
       returning *
     )
     select add_event(r.project_id, 'delivery.dropped', json_build_object(
       'deliveryId', r.webhook_delivery_id, 'event', ${endEvent}, 'endpointId', null,
       'attempts', r.webhook_attempts, 'lastStatus', r.webhook_last_status
     ), r.id)
     from dropped r`,
    [runId],
  );
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
