import type { RunStatus } from '../../../core/runs/run.ts';
import type { Session, SessionConfig, SessionPlan } from '../../../core/sessions/session.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { labelPair } from '../runs/run-list.ts';
import { type RunRow, runColumns, toRun } from '../runs/run-row.ts';
import { type OpenSessionRequest, openSession } from './open-session.ts';
import {
  acknowledgeSessionConfig,
  changeSessionConfig,
  readSessionConfig,
} from './session-config-store.ts';
import { hasUnsavedTurn } from './unsaved-turn.ts';

interface SessionQuery {
  flowId: string;
  limit: number;
  /** A field that is left out does not filter. */
  status?: RunStatus | undefined;
  ended?: boolean | undefined;
  /** The session has all of these. */
  labels?: [key: string, value: string][] | undefined;
  /** The last session of the previous page. */
  after?: { createdAt: Date; runId: string };
}

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(pool: Pool, sealer: Sealer) {
  return {
    /** A second call with the same id returns the session of the first one. */
    open: (opening: OpenSessionRequest) => openSession(pool, sealer, opening),
    /** Also finds ended and deleted sessions. */
    find: (flowId: string, sessionId: string) => findSession(pool, flowId, sessionId),
    /** Newest first, without deleted sessions. */
    list: (query: SessionQuery) => listSessions(pool, query),
    /** Null if the run is not a session. */
    plan: (runId: string) => readSessionPlan(pool, runId),
    /** Null once this sandbox has acknowledged it, and once the session has ended. */
    readConfig: (runId: string, generation: number): Promise<SessionConfig | null> =>
      readSessionConfig(pool, sealer, { runId, unlessAcknowledgedBy: generation }),
    acknowledgeConfig: (runId: string, generation: number, version: number) =>
      acknowledgeSessionConfig(pool, { runId, generation, version }),
    /** The new configuration; null if the session has ended. */
    changeConfig: (
      runId: string,
      change: (config: SessionConfig['config']) => SessionConfig['config'],
    ) => changeSessionConfig(pool, sealer, { runId, change }),
  };
}

const selectSessions = `
  select ${runColumns}, l.last_seq, s.last_message_at,
         (select count(*) from session_messages m
          where m.run_id = r.id and m.ended_at is null and m.delivery_attempts = 0) as queued
  from sessions s join runs r on r.id = s.run_id join run_logs l on l.run_id = r.id`;

interface SessionRow extends RunRow {
  last_message_at: Date | null;
  queued: number;
}

const toSession = (row: SessionRow): Session => ({
  run: toRun(row),
  queued: row.queued,
  lastMessageAt: row.last_message_at,
});

async function findSession(db: Db, flowId: string, sessionId: string): Promise<Session | null> {
  const text = `${selectSessions} where s.flow_id = $1 and s.session_id = $2`;
  const values = [flowId, sessionId];
  const { rows } = await db.query<SessionRow>({ name: 'find_session', text, values });
  return rows[0] ? toSession(rows[0]) : null;
}

/** Some conditions are implied, and repeated so that the indexes apply. */
async function listSessions(db: Db, query: SessionQuery): Promise<Session[]> {
  const { flowId, limit, status, ended, labels, after } = query;
  const { rows } = await db.query<SessionRow>(
    `${selectSessions}
     where s.flow_id = $1 and r.flow_id = $1 and r.session_id is not null and r.deleted_at is null
       and ($2::timestamptz is null or (r.created_at, r.id) < ($2, $3::uuid))
       and ($5::text is null or r.status = $5)
       and ($6::boolean is null or (r.ended_at is not null) = $6)
       and (($6 is distinct from false and $5 is distinct from 'running') or r.ended_at is null)
       and ($7::text[] is null or label_pairs(r.labels) @> $7)
     order by r.created_at desc, r.id desc limit $4`,
    [
      ...[flowId, after?.createdAt ?? null, after?.runId ?? null, limit],
      ...[status ?? null, ended ?? null, labels?.map(labelPair) ?? null],
    ],
  );
  return rows.map(toSession);
}

export async function readSessionPlan(db: Db, runId: string): Promise<SessionPlan | null> {
  const { rows } = await db.query<SessionPlan>(
    `select session_id as "sessionId", started_generation as "startedGeneration",
            ${hasUnsavedTurn} as "hasUnsavedTurn"
     from sessions s where run_id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}
