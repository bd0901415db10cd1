import { randomUUID } from 'node:crypto';
import { operatorTokenLimits } from '../../../core/keys/operator-tokens.ts';
import type { Db } from '../client/pool.ts';
import { hashOfToken, randomToken } from '../client/random-token.ts';
import type { Operator } from './operator-store.ts';

/** Lets a program act as an operator, without a sign-in. */
export interface OperatorToken {
  tokenId: string;
  name: string;
  /** The name of the operator that the token acts as. */
  operator: string;
  /** The readable part of the token. */
  shownPrefix: string;
  /** Null: all projects. */
  projectIds: string[] | null;
  expiresAt: Date;
  createdAt: Date;
}

/** An operator who is identified by a token. */
export interface TokenHolder extends Operator {
  token: Pick<OperatorToken, 'tokenId' | 'projectIds'>;
}

export interface NewOperatorToken {
  /** The operator's name. */
  operator: string;
  name: string;
  /** By default all projects. */
  projectIds?: readonly string[];
  expiresAt: Date;
}

interface TokenPage {
  tokens: OperatorToken[];
  next: string | null;
}

export type OperatorTokenStore = ReturnType<typeof createOperatorTokenStore>;

export function createOperatorTokenStore(pool: Db) {
  return {
    /** The only time the token itself is readable. Null if there is no such operator. */
    create: (input: NewOperatorToken) => createToken(pool, input),
    /** Null if the token is unknown, revoked or expired, or if its operator was removed. */
    findHolder: (token: string) => findHolder(pool, token),
    /** All valid tokens, oldest first. */
    list: () => listTokens(pool),
    /** `after` is a page's `next`. */
    page: (query: { limit: number; after?: string }) => pageOfTokens(pool, query),
    /** Takes effect with the next request. False if there is no such token. */
    revoke: (tokenId: string) => revokeToken(pool, tokenId),
  };
}

const columns = `
  t.id as "tokenId", t.name, o.name as operator, t.shown_prefix as "shownPrefix",
  t.project_ids as "projectIds", t.expires_at as "expiresAt", t.created_at as "createdAt"`;

/** Also deletes the expired tokens. */
async function createToken(
  db: Db,
  { operator, name, projectIds, expiresAt }: NewOperatorToken,
): Promise<{ token: string; record: OperatorToken } | null> {
  const token = `fro_${randomToken()}`;
  const { rows } = await db.query<OperatorToken>(
    `with outdated as (
       delete from operator_tokens where expires_at <= db_clock()
     ),
     t as (
       insert into operator_tokens
         (id, operator_id, name, shown_prefix, token_hash, project_ids, expires_at)
       select $1, id, $3, $4, $5, $6, $7 from operators where name = $2
       returning *
     )
     select ${columns} from t join operators o on o.id = t.operator_id`,
    [
      randomUUID(),
      operator,
      name,
      token.slice(0, operatorTokenLimits.shownChars),
      hashOfToken(token),
      projectIds ?? null,
      expiresAt,
    ],
  );
  return rows[0] ? { token, record: rows[0] } : null;
}

async function findHolder(db: Db, token: string): Promise<TokenHolder | null> {
  const { rows } = await db.query<Operator & TokenHolder['token']>(
    `select o.id as "operatorId", o.name, o.created_at as "createdAt", t.id as "tokenId",
            t.project_ids as "projectIds"
     from operator_tokens t join operators o on o.id = t.operator_id
     where t.token_hash = $1 and t.expires_at > db_clock()`,
    [hashOfToken(token)],
  );
  if (!rows[0]) return null;
  const { tokenId, projectIds, ...operator } = rows[0];
  return { ...operator, token: { tokenId, projectIds } };
}

async function listTokens(db: Db): Promise<OperatorToken[]> {
  const { rows } = await db.query<OperatorToken>(
    `select ${columns}
     from operator_tokens t join operators o on o.id = t.operator_id
     where t.expires_at > db_clock()
     order by t.created_at, t.id`,
  );
  return rows;
}

async function pageOfTokens(
  db: Db,
  { limit, after }: { limit: number; after?: string },
): Promise<TokenPage> {
  const { rows } = await db.query<OperatorToken>(
    `select ${columns}
     from operator_tokens t join operators o on o.id = t.operator_id
     where t.expires_at > db_clock()
       and ($1::uuid is null or (t.created_at, t.id) >
            (select a.created_at, a.id from operator_tokens a where a.id = $1))
     order by t.created_at, t.id
     limit $2`,
    [after ?? null, limit + 1],
  );
  const tokens = rows.slice(0, limit);
  return { tokens, next: rows.length > limit ? (tokens.at(-1)?.tokenId ?? null) : null };
}

async function revokeToken(db: Db, tokenId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from operator_tokens where id = $1', [tokenId]);
  return rowCount === 1;
}
