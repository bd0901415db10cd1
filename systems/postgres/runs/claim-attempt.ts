// An attempt is claimed before it is made, by a row that only one caller can insert. Its number
// follows the stored rows, so a claim that fails uses up none. If the worker dies after the claim,
// the attempt is used up, so no attempt is made twice.

import { limits } from '../../../core/limits.ts';
import type { WebhookState } from '../../../core/runs/run.ts';
import type { WebhookEvent } from '../../../core/webhook.ts';
import { ensureWebhookSecrets, type WebhookSecrets } from '../accounts/webhook-secret.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';

/** The tables of deliveries and their attempts. */
export interface DeliveryTables {
  deliveries: 'runs' | 'webhook_events';
  attempts: 'webhook_attempts' | 'webhook_event_attempts';
  /** The column of an attempt that references its delivery. */
  id: 'run_id' | 'event_id';
  /** The prefix of a delivery's columns. */
  prefix: 'webhook_' | '';
  /** Columns of the delivery `r`: what an attempt sends. */
  sent: string;
}

export interface AttemptClaim {
  /** The ID of the run or of the event. */
  id: string;
  /** 0: the first delivery; n: the n-th that an operator requested. */
  delivery: number;
  /** Attempts that were made. After a restore they can be more than the stored ones. */
  made: number;
  /** Temporal's run ID of the workflow, and the number of this execution of its activity. */
  claimedBy: string;
  execution: number;
  /** Earlier executions of the same activity whose claims got no answer, and that sent nothing. */
  unanswered: { from: number; to: number } | null;
  /** Called before the body is read. False: there is no memory for it now. */
  reserve?(projectId: string, bodyBytes: number): Promise<boolean>;
  /** After it aborts, no attempt is claimed unless the statement was sent already. */
  signal?: AbortSignal;
}

interface Delivery {
  event: WebhookEvent;
  /** Null for an event that no run has caused. */
  runId: string | null;
  url: string;
  body: string;
  deliveryId: string;
  /** The API request that started the run. */
  requestId: string | null;
}

export type ClaimedAttempt =
  | (Delivery & WebhookSecrets & { attempt: number })
  /** Nothing to send: an attempt of this delivery was answered with this status of 2xx. */
  | { done: number }
  /** Nothing to send yet: an attempt is in progress, or the delay after it has not passed. */
  | { dueInMs: number }
  /**
   * Nothing to send: another caller claimed the attempt at the same time, there is no memory for
   * the body now, no attempt is left, or there is no webhook.
   */
  | { unavailable: 'taken' | 'no_memory' | 'none_left' | 'none' }
  /** The run has not ended yet. */
  | { unended: true };

interface ClaimContext {
  pool: Pool;
  sealer: Sealer;
  tables: DeliveryTables;
}

export async function claimAttempt(
  { pool, sealer, tables }: ClaimContext,
  claim: AttemptClaim,
): Promise<ClaimedAttempt> {
  const webhook = await readState(pool, tables, claim);
  if (webhook?.state === 'waiting') return { unended: true };
  if (webhook === null || webhook.body_bytes === null) return { unavailable: 'none' };
  const isFirst = claim.delivery === 0;
  if (webhook.answered !== null) return { done: webhook.answered };
  if (webhook.state === 'delivered' && isFirst) return { done: webhook.last_status ?? 0 };
  if (webhook.state === 'dropped' && isFirst) return { unavailable: 'none_left' };
  // Before the claim, so that a failure here does not use up the attempt.
  const secrets = await ensureWebhookSecrets(pool, sealer, webhook.project_id);
  const attempt = webhook.is_unsent ? webhook.attempts : Math.max(webhook.attempts, claim.made) + 1;
  if (!webhook.is_unsent && webhook.due_in_ms > 0) return { dueInMs: webhook.due_in_ms };
  if (attempt > limits.webhook.attempts) return { unavailable: 'none_left' };
  const hasMemory = await claim.reserve?.(webhook.project_id, webhook.body_bytes);
  if (hasMemory === false) return { unavailable: 'no_memory' };
  claim.signal?.throwIfAborted();
  const put = webhook.is_unsent ? takeOverAttempt : insertAttempt;
  const claimed = await put(pool, tables, { ...claim, attempt });
  if (claimed === null) return { unavailable: 'taken' };
  const { url } = claimed;
  return url === null ? { unavailable: 'none_left' } : { ...claimed, url, ...secrets, attempt };
}

interface WebhookRow {
  project_id: string;
  state: WebhookState;
  body_bytes: number | null;
  last_status: number | null;
  /** The status of 2xx that completed this delivery. */
  answered: number | null;
  /** The highest number of a stored attempt; 0 without any. */
  attempts: number;
  /** The last one was claimed by an execution that got no answer and sent nothing. */
  is_unsent: boolean;
  due_in_ms: number;
}

async function readState(
  db: Db,
  { deliveries, attempts, id, prefix }: DeliveryTables,
  claim: AttemptClaim,
): Promise<WebhookRow | null> {
  const { delivery, claimedBy, unanswered } = claim;
  const { delaysMs, attemptMaxMs } = limits.webhook;
  const { rows } = await db.query<WebhookRow>(
    `select r.project_id, r.${prefix}state as state, octet_length(r.${prefix}body) as body_bytes,
       r.${prefix}last_status as last_status, coalesce(last.attempt, 0) as attempts,
       case when last.status between 200 and 299 then last.status end as answered,
       coalesce(last.finished_at is null and last.claimed_by = $3
         and last.execution between $4 and $5, false) as is_unsent,
       coalesce(ceil(1000 * extract(epoch from
         coalesce(last.finished_at, last.started_at + $6 * interval '1 ms')
         + coalesce(($7::integer[])[last.attempt], 0) * interval '1 ms' - db_clock()
       )), 0)::float8 as due_in_ms
     from ${deliveries} r
     left join lateral (
       select * from ${attempts} a where a.${id} = r.id and a.delivery = $2
       order by a.attempt desc limit 1
     ) last on true
     where r.id = $1`,
    [claim.id, delivery, claimedBy, unanswered?.from, unanswered?.to, attemptMaxMs, delaysMs],
  );
  return rows[0] ?? null;
}

interface NumberedClaim extends AttemptClaim {
  attempt: number;
}

/** Without a URL, the endpoint was removed. */
type ClaimedDelivery = Omit<Delivery, 'url'> & { url: string | null };

async function insertAttempt(
  db: Db,
  { deliveries, attempts, id, prefix, sent }: DeliveryTables,
  { attempt, delivery, claimedBy, execution, ...claim }: NumberedClaim,
): Promise<ClaimedDelivery | null> {
  const { rows } = await db.query<ClaimedDelivery>(
    `with claimed as (
       insert into ${attempts} (${id}, delivery, attempt, claimed_by, execution)
       select id, $3, $2, $4, $5 from ${deliveries}
       where id = $1 and (${prefix}state = 'pending' or $3 > 0)
       on conflict do nothing
       returning ${id} as id
     )
     update ${deliveries} r set ${prefix}attempts = r.${prefix}attempts + 1 from claimed
     where r.id = claimed.id
     returning ${sent}`,
    [claim.id, attempt, delivery, claimedBy, execution],
  );
  return rows[0] ?? null;
}

/** Of several executions one takes the row over, because it is then no longer an earlier one's. */
async function takeOverAttempt(
  db: Db,
  { deliveries, attempts, id, sent }: DeliveryTables,
  { attempt, delivery, claimedBy, execution, unanswered, ...claim }: NumberedClaim,
): Promise<ClaimedDelivery | null> {
  const { rows } = await db.query<ClaimedDelivery>(
    `with claimed as (
       update ${attempts} set execution = $5, started_at = db_clock()
       where ${id} = $1 and delivery = $3 and attempt = $2 and finished_at is null
         and claimed_by = $4 and execution between $6 and $7
       returning ${id} as id
     )
     select ${sent} from ${deliveries} r join claimed on r.id = claimed.id`,
    [claim.id, attempt, delivery, claimedBy, execution, unanswered?.from, unanswered?.to],
  );
  return rows[0] ?? null;
}
