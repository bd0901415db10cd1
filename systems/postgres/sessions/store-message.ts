import { limits } from '../../../core/limits.ts';
import type { BudgetOwner } from '../../../core/metering/monthly-budget.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction, inDryRun } from '../client/transaction.ts';
import {
  type FileConflict,
  FileConflictError,
  type InputFiles,
  orConflict,
  planFlowUpdate,
  updateFlowFiles,
} from '../files/input-files.ts';
import { recordRunChange } from '../runs/record-run-change.ts';
import { storeMessageFiles } from './turn-files.ts';

export interface NewMessage {
  runId: string;
  messageId: string;
  clientMessageId: string | null;
  text: string;
  /** Postgres' disk is almost full, so a new message is rejected; by default it is not. */
  isPostgresDiskShort?: boolean;
  /** The operator who sends the message; by default it has no entry in the audit log. */
  author?: ChangeAuthor;
}

export type MessageRejection =
  | 'QUEUE_FULL'
  | 'FLOW_ARCHIVED'
  | 'PROJECT_ARCHIVED'
  | 'POSTGRES_DISK_SHORT'
  | 'RUNNER_OFFLINE'
  | 'CONCURRENT_LIMIT'
  | 'BUDGET_REACHED'
  | 'STORAGE_QUOTA';

export type StoredMessage =
  /** `position`: how many messages come before it, including the one in progress. */
  | { outcome: 'known'; messageId: string; position: number }
  /** `isAsleep`: the session has no sandbox and does not wait for one yet. */
  | { outcome: 'stored'; messageId: string; position: number; isAsleep: boolean }
  | { outcome: 'gone' }
  | ({ outcome: 'rejected'; reason: MessageRejection } & ReachedLimit);

interface ReachedLimit {
  limit: number | null;
  current: number | null;
  /** Whose monthly budget was reached. */
  budget: BudgetOwner | null;
}

export interface MessageFiles {
  flowId: string;
  input: InputFiles;
}

type StoreRow =
  | { outcome: 'stored'; message_id: string; position: number; is_asleep: boolean }
  | { outcome: 'known'; message_id: string; position: number }
  | { outcome: 'gone' }
  /** The session has released its slot meanwhile. */
  | { outcome: 'released' }
  | ({ outcome: MessageRejection } & ReachedLimit);

interface StoreOptions {
  hostStaleMs: number;
  /** Also for a session with a slot. Set in a transaction, which cannot lock it after the run. */
  locksProject: boolean;
  isFinal?: boolean;
}

async function storeMessage(
  db: Db,
  message: NewMessage,
  options: StoreOptions,
): Promise<StoredMessage> {
  const { hostStaleMs, locksProject, isFinal } = options;
  const text = `
    select outcome, message_id, position, "limit", current, budget, is_asleep
    from store_message($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
  const values = [
    message.runId,
    message.messageId,
    message.clientMessageId,
    message.text,
    limits.session.queueMax,
    `${hostStaleMs} ms`,
    isFinal !== true, // the dry run has checked it, and the message's files are stored since
    message.isPostgresDiskShort === true,
    locksProject,
  ];
  const { rows } = await db.query<StoreRow>({ name: 'store_message', text, values });
  const row = rows[0];
  if (!row) throw new Error('store_message returned no row');
  switch (row.outcome) {
    case 'stored': {
      const { message_id: messageId, position, is_asleep: isAsleep } = row;
      return { outcome: 'stored', messageId, position, isAsleep };
    }
    case 'known':
      return { outcome: 'known', messageId: row.message_id, position: row.position };
    case 'gone':
      return { outcome: 'gone' };
    case 'released':
      return storeMessage(db, message, { ...options, locksProject: true });
    default:
      return {
        outcome: 'rejected',
        reason: row.outcome,
        limit: row.limit,
        current: row.current,
        budget: row.budget,
      };
  }
}

/** An operator's message is stored with its entry in the audit log. */
export function storeRecorded(
  pool: Pool,
  message: NewMessage,
  hostStaleMs: number,
): Promise<StoredMessage> {
  if (message.author === undefined)
    return storeMessage(pool, message, { hostStaleMs, locksProject: false });
  return inBriefTransaction(pool, async (db) => {
    const stored = await storeMessage(db, message, { hostStaleMs, locksProject: true });
    if (stored.outcome === 'stored') await recordMessage(db, message, ['message']);
    return stored;
  });
}

function recordMessage(
  db: Db,
  { runId, author }: NewMessage,
  fieldsAfter: string[],
): Promise<void> {
  return recordRunChange(db, author, { runId, action: 'message_sent', fieldsAfter });
}

/** Stores the message and its files, or neither. A known message keeps its files. */
export function storeWithFiles(
  pool: Pool,
  message: NewMessage,
  { flowId, input, hostStaleMs }: MessageFiles & { hostStaleMs: number },
): Promise<StoredMessage | FileConflict> {
  const stored = inBriefTransaction(pool, async (db) => {
    const answer = await storeMessage(db, message, {
      hostStaleMs,
      locksProject: true,
      isFinal: true,
    });
    if (answer.outcome !== 'stored') return answer;
    const updated = await updateFlowFiles(db, flowId, input);
    if (updated.outcome !== 'added') throw new FileConflictError(updated);
    await storeMessageFiles(db, answer.messageId, input.files);
    await recordMessage(db, message, ['files', 'message']);
    return answer;
  });
  return orConflict(stored);
}

/** A conflict of the files is reported before a limit that may pass. */
export function dryRunWithFiles(
  pool: Pool,
  message: NewMessage,
  { flowId, input, hostStaleMs }: MessageFiles & { hostStaleMs: number },
): Promise<StoredMessage | FileConflict> {
  return inDryRun(pool, async (db) => {
    const stored = await storeMessage(db, message, { hostStaleMs, locksProject: true });
    if (stored.outcome === 'known' || stored.outcome === 'gone') return stored;
    const plan = await planFlowUpdate(db, flowId, input);
    return plan.outcome === 'fits' ? stored : plan;
  });
}
