import type { Session, SessionConfig } from '../../../core/sessions/session.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { runColumns } from '../runs/run-row.ts';
import { type OpenSessionRequest, openSession } from './open-session.ts';
import {
  acknowledgeSessionConfig,
  changeSessionConfig,
  readSessionConfig,
} from './session-config-store.ts';
import { listSessions, type SessionQuery } from './session-list.ts';
import { queuedColumn, type SessionRow, toSession } from './session-row.ts';

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(pool: Pool, sealer: Sealer) {
  return {
    /** A second call with the same id returns the session of the first one. */
    open: (opening: OpenSessionRequest) => openSession(pool, sealer, opening),
    /** Also finds ended and deleted sessions. */
    find: (flowId: string, sessionId: string) => findSession(pool, flowId, sessionId),
    /** Latest first, without deleted sessions. */
    list: (query: SessionQuery) => listSessions(pool, query),
    /** Null once this sandbox has acknowledged it, and once the session has ended. */
    readConfig: (runId: string, generation: number): Promise<SessionConfig | null> =>
      readSessionConfig(pool, sealer, { runId, unlessAcknowledgedBy: generation }),
    acknowledgeConfig: (runId: string, generation: number, version: number) =>
      acknowledgeSessionConfig(pool, { runId, generation, version }),
    /** The new configuration; null if the session has ended. */
    changeConfig: (
      runId: string,
      change: (config: SessionConfig['config']) => SessionConfig['config'],
      author?: ChangeAuthor,
    ) => changeSessionConfig(pool, sealer, { runId, change, author }),
  };
}

const selectSessions = `
  select ${runColumns}, l.last_seq, s.last_message_at, ${queuedColumn}
  from sessions s join runs r on r.id = s.run_id join run_logs l on l.run_id = r.id`;

async function findSession(db: Db, flowId: string, sessionId: string): Promise<Session | null> {
  const text = `${selectSessions} where s.flow_id = $1 and s.session_id = $2`;
  const values = [flowId, sessionId];
  const { rows } = await db.query<SessionRow>({ name: 'find_session', text, values });
  return rows[0] ? toSession(rows[0]) : null;
}
