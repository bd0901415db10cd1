import type { FlowOutline } from '../../../core/flows/flow.ts';
import { runTokenLimits } from '../../../core/keys/run-tokens.ts';
import type { Db, Pool } from '../client/pool.ts';
import { hashOfToken, randomToken } from '../client/random-token.ts';
import {
  type KeyRecord,
  type KeyWithFlowRow,
  keyColumns,
  outlineOfFlow,
  toFlowOutline,
  toKeyRecord,
} from './key-row.ts';

interface NewRunToken {
  keyId: string;
  runId: string;
  validMs: number;
}

/** A key that is identified by a token for one of its runs. */
interface RunTokenHolder {
  /** The key may be expired or revoked. */
  key: KeyRecord;
  /** Null: there is no such flow, or none in the path. */
  flow: FlowOutline | null;
  runToken: { runId: string; expiresInMs: number };
}

export type RunTokenStore = ReturnType<typeof createRunTokenStore>;

export function createRunTokenStore(pool: Pool) {
  return {
    /** The only time the token itself is readable. */
    create: (input: NewRunToken) => createRunToken(pool, input),
    /** Null if the token is unknown or expired. */
    findHolder: (token: string, flowId: string | null) => findHolder(pool, token, flowId),
  };
}

/** Also deletes expired tokens, except those that another call is deleting. */
async function createRunToken(
  db: Db,
  { keyId, runId, validMs }: NewRunToken,
): Promise<{ token: string; expiresAt: Date }> {
  const token = `frt_${randomToken()}`;
  const { rows } = await db.query<{ expiresAt: Date }>(
    `with outdated as (
       delete from run_tokens where token_hash in (
         select token_hash from run_tokens where expires_at <= db_clock()
         order by expires_at limit $5
         for update skip locked
       )
     )
     insert into run_tokens (token_hash, key_id, run_id, expires_at)
     values ($1, $2, $3, db_clock() + $4 * interval '1 ms')
     returning expires_at as "expiresAt"`,
    [hashOfToken(token), keyId, runId, validMs, runTokenLimits.purgeRows],
  );
  if (!rows[0]) throw new Error('the token was not stored');
  return { token, expiresAt: rows[0].expiresAt };
}

type HolderRow = KeyWithFlowRow & { token_run_id: string; expires_in_ms: number };

async function findHolder(
  db: Db,
  token: string,
  flowId: string | null,
): Promise<RunTokenHolder | null> {
  const text = `
    select k.*, ${outlineOfFlow}, t.run_id as token_run_id,
           (extract(epoch from t.expires_at - db_clock()) * 1000)::double precision
             as expires_in_ms
    from run_tokens t
    join (select ${keyColumns} from api_keys) k on k.id = t.key_id
    left join flows f on f.id = $2 and f.archived_at is null
    where t.token_hash = $1 and t.expires_at > db_clock()`;
  const values = [hashOfToken(token), flowId];
  const { rows } = await db.query<HolderRow>({ name: 'find_run_token', text, values });
  const [row] = rows;
  if (row === undefined) return null;
  const runToken = { runId: row.token_run_id, expiresInMs: row.expires_in_ms };
  return { key: toKeyRecord(row), flow: toFlowOutline(row), runToken };
}
