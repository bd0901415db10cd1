// Rows of every table that retention covers, with the time until which they are kept.

import { randomBytes, randomUUID } from 'node:crypto';
import { limits } from '../../../../core/limits.ts';
import { modelLimits } from '../../../../core/model/model-limits.ts';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import type { Scenario } from '../../../support/database-records.ts';

const dayMs = 24 * 3_600_000;
/** Noon. */
export const agedFrom = Date.parse('2026-03-01T12:00:00Z');
/** The next day in UTC begins. */
const midnightMs = dayMs / 2;
export const retentionTimes = {
  runMs: 30 * dayMs,
  sessionFilesMs: 7 * dayMs,
  webhookAttemptsMs: 30 * dayMs,
};

export interface AgedRow {
  table: string;
  /** The last millisecond after `agedFrom` at which the row is kept. */
  untilMs: number;
}

interface Ended {
  isSession: boolean;
  isDeleted: boolean;
}

/** A time at which a dataset is inserted, in milliseconds after `agedFrom`. */
interface Dataset {
  pool: Pool;
  scenario: Scenario;
  atMs: number;
}

/** Inserts rows into every table. The clock of the database must show that time. */
export async function insertAgedRows(dataset: Dataset): Promise<AgedRow[]> {
  const inserter = createInserter(dataset);
  for (const isSession of [false, true])
    for (const isDeleted of [false, true])
      await insertEnded(dataset, inserter, { isSession, isDeleted });
  await insertKeyed(dataset, inserter);
  await insertLedger(dataset, inserter);
  await insertOthers(dataset, inserter);
  await insertFlowFiles(dataset, inserter);
  return inserter.rows;
}

/** Changes of sums, which admissions have inserted. Each call of the retention adds them up. */
export async function unfoldedRows(pool: Pool): Promise<AgedRow[]> {
  const { rows } = await pool.query('select project_id from stored_bytes_changes');
  return rows.map(() => ({ table: 'stored_bytes_changes', untilMs: -1 }));
}

type Inserter = ReturnType<typeof createInserter>;

function createInserter({ pool, atMs }: Dataset) {
  const rows: AgedRow[] = [];
  async function insert(row: AgedRow, text: string, values: unknown[]): Promise<void> {
    await pool.query(`insert into ${row.table} ${text}`, values);
    rows.push(row);
  }
  return {
    rows,
    insert,
    /** A blob that is referenced until then. Returns its hash. */
    async insertBlob(referencedUntilMs: number): Promise<Buffer> {
      const sha256 = randomBytes(32);
      const untilMs = Math.max(referencedUntilMs, atMs + limits.blob.unreferencedTtlMs);
      await insert({ table: 'blobs', untilMs }, '(sha256, size) values ($1, 1)', [sha256]);
      const chunk = `(sha256, idx, data) values ($1, 0, 'a')`;
      await insert({ table: 'blob_chunks', untilMs }, chunk, [sha256]);
      return sha256;
    },
    /** Ends the run. Its log has the frames of its end as well. */
    async end(runId: string, logUntilMs: number): Promise<void> {
      const runs = createRunStore(pool, testSealer);
      await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
      const { rowCount } = await pool.query('select from frames where run_id = $1', [runId]);
      for (let frame = 0; frame < (rowCount ?? 0); frame += 1)
        rows.push({ table: 'frames', untilMs: logUntilMs });
    },
  };
}

interface Until {
  log: number;
  files: number;
  attempts: number;
  record: number;
}

/** A deleted run keeps its rows until the tombstone is removed, unless they are removed before. */
function untilOf(atMs: number, { isSession, isDeleted }: Ended): Until {
  const { runMs, sessionFilesMs, webhookAttemptsMs } = retentionTimes;
  const until = (keptMs: number): number =>
    atMs + (isDeleted ? Math.min(keptMs, limits.retention.tombstoneTtlMs) : keptMs);
  return {
    log: until(runMs),
    files: until(isSession ? sessionFilesMs : runMs),
    attempts: until(webhookAttemptsMs),
    record: until(Infinity),
  };
}

async function insertEnded(
  { pool, scenario, atMs }: Dataset,
  inserter: Inserter,
  of: Ended,
): Promise<void> {
  const { rows, insert, insertBlob, end } = inserter;
  const { runId } = await (of.isSession ? scenario.session() : scenario.run());
  const { log, files, attempts, record } = untilOf(atMs, of);
  for (const table of ['runs', 'run_logs', ...(of.isSession ? ['sessions'] : [])])
    rows.push({ table, untilMs: record });
  await pool.query(
    `insert into frames (run_id, seq, at, event, channel, data)
     values ($1, 1000000, db_clock(), 'output', 'output', '{}')`,
    [runId],
  );
  const packed = `(run_id, first_seq, last_seq, channels, data) values ($1, 1, 1, '{other}', 'a')`;
  await insert({ table: 'packed_frames', untilMs: log }, packed, [runId]);
  const question = `(run_id, id, tool_name, input) values ($1, 'q', 'Ask', '{}')`;
  await insert({ table: 'interactions', untilMs: log }, question, [runId]);
  const stored = `(run_id, path, sha256, size, mode, modified_at)
                  values ($1, 'a', $2, 1, 420, db_clock())`;
  await insert({ table: 'run_files', untilMs: files }, stored, [runId, await insertBlob(files)]);
  const link = `(run_id, path, target, modified_at) values ($1, 'b', 'a', db_clock())`;
  await insert({ table: 'run_links', untilMs: files }, link, [runId]);
  const folder = `(run_id, path, mode, modified_at) values ($1, 'c', 493, db_clock())`;
  await insert({ table: 'run_folders', untilMs: files }, folder, [runId]);
  const input = `(run_id, path, sha256, size, mode, scope, modified_at)
                 values ($1, 'a', $2, 1, 420, 'run', db_clock())`;
  await insert({ table: 'input_files', untilMs: files }, input, [runId, await insertBlob(files)]);
  const attempt = '(run_id, attempt) values ($1, 1)';
  await insert({ table: 'webhook_attempts', untilMs: attempts }, attempt, [runId]);
  if (of.isSession) await insertConversation(inserter, runId, { log, files });
  await end(runId, log);
  if (of.isDeleted) await createRunStore(pool, testSealer).markDeleted(runId);
}

async function insertConversation(
  { insert, insertBlob }: Inserter,
  runId: string,
  { log, files }: Pick<Until, 'log' | 'files'>,
): Promise<void> {
  const messageId = randomUUID();
  const message = `(id, run_id, position, text, ended_at) values ($2, $1, 1, 'Hi', db_clock())`;
  await insert({ table: 'session_messages', untilMs: log }, message, [runId, messageId]);
  const file = `(message_id, path, sha256, size, mode, scope) values ($1, 'a', $2, 1, 420, 'run')`;
  await insert({ table: 'message_files', untilMs: -1 }, file, [messageId, await insertBlob(-1)]);
  const stored = `(run_id, path, sha256, size, mode, modified_at)
                  values ($1, 'a', $2, 1, 420, db_clock())`;
  await insert({ table: 'session_transcripts', untilMs: files }, stored, [runId, randomBytes(32)]);
  const segment = `(run_id, path, at, sha256, size) values ($1, 'a', 0, $2, 1)`;
  const ofSegment = [runId, await insertBlob(files)];
  await insert({ table: 'transcript_segments', untilMs: files }, segment, ofSegment);
}

async function insertKeyed({ scenario, atMs }: Dataset, { rows, end }: Inserter): Promise<void> {
  const { runId } = await scenario.run({ idempotencyKey: randomUUID() });
  for (const table of ['runs', 'run_logs']) rows.push({ table, untilMs: Infinity });
  rows.push({ table: 'idempotency_keys', untilMs: atMs + limits.idempotency.windowMs });
  await end(runId, atMs + retentionTimes.runMs);
}

const today = `(db_clock() at time zone 'UTC')::date`;

async function insertLedger({ scenario, atMs }: Dataset, { insert }: Inserter): Promise<void> {
  const { projectId, flow } = scenario;
  const keptMs = modelLimits.ledgerRetentionMs;
  await insert(
    { table: 'model_calls', untilMs: atMs + keptMs },
    `(id, run_id, project_id, flow_id, labels, model, started_at, ended_at, is_cut_off,
      is_estimated, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens,
      cache_write_1h_tokens, web_searches)
     values ($1, $1, $2, $3, '{}', 'm', db_clock(), db_clock(), false, false, 1, 1, 0, 0, 0, 0)`,
    [randomUUID(), projectId, flow.flowId],
  );
  const untilMs = keptMs + midnightMs - 1;
  const sums = `calls, unpriced_calls, input_tokens, output_tokens, cache_read_tokens,
                cache_write_tokens, cost_nanos`;
  const ofTurn = `(turn_id, day, run_id, ${sums}) values ($1, ${today}, $1, 1, 0, 1, 1, 0, 0, 0)`;
  await insert({ table: 'turn_spending', untilMs }, ofTurn, [randomUUID()]);
  const ofDay = `(day, project_id, flow_id, model, ${sums})
                 values (${today}, $1, $2, $3, 1, 0, 1, 1, 0, 0, 0)`;
  await insert({ table: 'daily_spending', untilMs }, ofDay, [projectId, flow.flowId, randomUUID()]);
  const ofLabel = `(day, project_id, label, value, ${sums})
                   values (${today}, $1, 'team', $2, 1, 0, 1, 1, 0, 0, 0)`;
  await insert({ table: 'daily_label_spending', untilMs }, ofLabel, [projectId, randomUUID()]);
  const owned = '(project_id, owner, owner_id, month,';
  const ofMonth = `${owned} cost_nanos) values ($1, 'flow', $2, ${today}, 1)`;
  await insert({ table: 'monthly_spending', untilMs }, ofMonth, [projectId, randomUUID()]);
  const threshold = `${owned} percent, budget_usd) values ($1, 'flow', $2, ${today}, 80, 1)`;
  await insert({ table: 'passed_thresholds', untilMs }, threshold, [projectId, randomUUID()]);
}

async function insertOthers({ pool, scenario, atMs }: Dataset, { insert }: Inserter) {
  const { projectId } = scenario;
  const keyId = randomUUID();
  await pool.query(
    `insert into api_keys (id, project_id, name, created_by, shown_prefix, key_hash)
     values ($1, $2, 'ci', 'ana', 'k', $3)`,
    [keyId, projectId, randomBytes(32)],
  );
  const usage = `(key_id, day, calls, errors, duration_ms) values ($1, ${today}, 1, 0, 1)`;
  const usageUntilMs = (limits.key.usageDays - 1) * dayMs + midnightMs - 1;
  await insert({ table: 'key_usage', untilMs: usageUntilMs }, usage, [keyId]);
  const request = `(id, host_id, project_id, run_id, kind, payload, expires_at)
                   values ($1, 'h', $2, $1, 'files', '{}', db_clock() + interval '1 s')`;
  const values = [randomUUID(), projectId];
  await insert({ table: 'host_rpc_requests', untilMs: atMs + 999 }, request, values);
  await insertEvent({ pool, scenario, atMs }, insert);
}

/** Inserts an event of an endpoint that was removed, so it gets no event of a run. */
async function insertEvent(
  { pool, scenario: { projectId }, atMs }: Dataset,
  insert: Inserter['insert'],
): Promise<void> {
  const [endpointId, eventId] = [randomUUID(), randomUUID()];
  await pool.query(
    `insert into webhook_endpoints (id, project_id, url, event_types, removed_at)
     values ($1, $2, 'https://e.com/', '{run.finished}', db_clock())`,
    [endpointId, projectId],
  );
  const untilMs = atMs + retentionTimes.webhookAttemptsMs;
  const event = `(id, endpoint_id, project_id, event, body) values ($1, $2, $3, 'run.finished', '')`;
  await insert({ table: 'webhook_events', untilMs }, event, [eventId, endpointId, projectId]);
  const attempt = '(event_id, attempt) values ($1, 1)';
  await insert({ table: 'webhook_event_attempts', untilMs }, attempt, [eventId]);
}

/** The newest version of a file, and one that no version of the flow and no active run needs. */
async function insertFlowFiles({ pool, scenario }: Dataset, { insert, insertBlob }: Inserter) {
  await pool.query('update flows set files_kept_from = 2');
  const file = `(flow_id, path, valid_from, valid_to, sha256, size, mode, modified_at)
                values ($1, $2, 1, $3, $4, 1, 420, db_clock())`;
  for (const [validTo, untilMs] of [
    [null, Infinity],
    [2, -1],
  ] as const) {
    const values = [scenario.flow.flowId, randomUUID(), validTo, await insertBlob(untilMs)];
    await insert({ table: 'flow_files', untilMs }, file, values);
  }
}
