// An attempt is claimed before it is made, by a row that only one caller can insert. Its number
// follows the stored rows, so a claim that fails uses up none. If the worker dies after the claim,
// the attempt is used up, so no attempt is made twice.

import { limits } from '../../../core/limits.ts';
import type { WebhookState } from '../../../core/runs/run.ts';
import type { WebhookEvent } from '../../../core/webhook.ts';
import { ensureWebhookSecrets, type WebhookSecrets } from '../accounts/webhook-secret.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';

export interface AttemptClaim {
  runId: string;
  /** 0: the delivery at the run's end; n: the n-th that an operator requested. */
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
  url: string;
  body: string;
  deliveryId: string;
  /** The API request that started the run. */
  requestId: string | null;
}

export type ClaimedAttempt =
  | (Delivery & WebhookSecrets & { attempt: number })
  /** Nothing to send: it was delivered before. */
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

export async function claimAttempt(
  pool: Pool,
  sealer: Sealer,
  claim: AttemptClaim,
): Promise<ClaimedAttempt> {
  const webhook = await readState(pool, claim);
  if (webhook?.state === 'waiting') return { unended: true };
  if (webhook === null || webhook.body_bytes === null) return { unavailable: 'none' };
  const isFirst = claim.delivery === 0;
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
  const claimed = await put(pool, { ...claim, attempt });
  return claimed ? { ...claimed, ...secrets, attempt } : { unavailable: 'taken' };
}

interface WebhookRow {
  project_id: string;
  state: WebhookState;
  body_bytes: number | null;
  last_status: number | null;
  /** The highest number of a stored attempt; 0 without any. */
  attempts: number;
  /** The last one was claimed by an execution that got no answer and sent nothing. */
  is_unsent: boolean;
  due_in_ms: number;
}

async function readState(db: Db, claim: AttemptClaim): Promise<WebhookRow | null> {
  const { runId, delivery, claimedBy, unanswered } = claim;
  const { delaysMs, attemptMaxMs } = limits.webhook;
  const { rows } = await db.query<WebhookRow>(
    `select r.project_id, r.webhook_state as state, octet_length(r.webhook_body) as body_bytes,
       r.webhook_last_status as last_status, coalesce(last.attempt, 0) as attempts,
       coalesce(last.finished_at is null and last.claimed_by = $3
         and last.execution between $4 and $5, false) as is_unsent,
       coalesce(ceil(1000 * extract(epoch from
         coalesce(last.finished_at, last.started_at + $6 * interval '1 ms')
         + coalesce(($7::integer[])[last.attempt], 0) * interval '1 ms' - db_clock()
       )), 0)::float8 as due_in_ms
     from runs r
     left join lateral (
       select * from webhook_attempts a where a.run_id = r.id and a.delivery = $2
       order by a.attempt desc limit 1
     ) last on true
     where r.id = $1`,
    [runId, delivery, claimedBy, unanswered?.from, unanswered?.to, attemptMaxMs, delaysMs],
  );
  return rows[0] ?? null;
}

interface NumberedClaim extends AttemptClaim {
  attempt: number;
}

const delivery = `
  case when r.session_id is null then 'run.finished' else 'session.ended' end as event,
  r.callback_url as url, r.webhook_body as body,
  r.webhook_delivery_id as "deliveryId", r.request_id as "requestId"`;

async function insertAttempt(
  db: Db,
  { runId, attempt, delivery: number, claimedBy, execution }: NumberedClaim,
): Promise<Delivery | null> {
  const { rows } = await db.query<Delivery>(
    `with claimed as (
       insert into webhook_attempts (run_id, delivery, attempt, claimed_by, execution)
       select id, $3, $2, $4, $5 from runs
       where id = $1 and (webhook_state = 'pending' or $3 > 0)
       on conflict do nothing
       returning run_id
     )
     update runs r set webhook_attempts = r.webhook_attempts + 1 from claimed
     where r.id = claimed.run_id
     returning ${delivery}`,
    [runId, attempt, number, claimedBy, execution],
  );
  return rows[0] ?? null;
}

/** Of several executions one takes the row over, because it is then no longer an earlier one's. */
async function takeOverAttempt(
  db: Db,
  { runId, attempt, delivery: number, claimedBy, execution, unanswered }: NumberedClaim,
): Promise<Delivery | null> {
  const { rows } = await db.query<Delivery>(
    `with claimed as (
       update webhook_attempts set execution = $5, started_at = db_clock()
       where run_id = $1 and delivery = $3 and attempt = $2 and finished_at is null
         and claimed_by = $4 and execution between $6 and $7
       returning run_id
     )
     select ${delivery} from runs r join claimed on r.id = claimed.run_id`,
    [runId, attempt, number, claimedBy, execution, unanswered?.from, unanswered?.to],
  );
  return rows[0] ?? null;
}
