import { randomUUID } from 'node:crypto';
import type { FlowOutline } from '../../../core/flows/flow.ts';
import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';
import { hashOfToken, randomToken } from '../client/random-token.ts';
import {
  type KeyRecord,
  type KeyRow,
  type KeyWithFlowRow,
  keyColumns,
  outlineOfFlow,
  toFlowOutline,
  toKeyRecord,
} from './key-row.ts';

export interface NewKey {
  projectId: string;
  name: string;
  createdBy: string;
  rateLimitRpm?: number;
  expiresAt?: Date;
  /** By default the key is not limited. */
  scopes?: readonly string[];
  /** Null, and the default: unlimited. */
  monthlyBudgetUsd?: number | null;
  /** The key to store, in the format of a generated one. Throws if it exists. */
  key?: string;
}

export interface KeyPatch {
  monthlyBudgetUsd?: number | null;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(pool: Db) {
  return {
    /** The only time the key itself is readable. */
    create: (input: NewKey) => createKey(pool, input),
    findByKey: (key: string) => findByKey(pool, key),
    /** The same with a flow, which may be of another project; null: there is none. */
    findWithFlow: (key: string, flowId: string) => findWithFlow(pool, key, flowId),
    /** The keys among these that are neither revoked nor expired. */
    activeOf: (keyIds: string[]) => activeOf(pool, keyIds),
    find: (keyId: string) => findKey(pool, keyId),
    list: (projectId: string) => listKeys(pool, projectId),
    /** `after` is a page's `next`. */
    page: (projectId: string, query: { limit: number; after?: string }) =>
      pageOfKeys(pool, projectId, query),
    /** The same within a transaction: the key is locked until it ends. */
    findLocked: (keyId: string) => findLockedKey(pool, keyId),
    /** Null if there is no such key. */
    update: (keyId: string, patch: KeyPatch) => updateKey(pool, keyId, patch),
    /** Takes effect with the next request and cannot be undone. Null if there is no such key. */
    revoke: (keyId: string) => revokeKey(pool, keyId),
    /** Like `revoke`. False if the key was already revoked, or if there is no such key. */
    revokeFirst: (keyId: string) => revokeFirst(pool, keyId),
    /** Marks keys as used now; callers batch their calls. Returns the keys to mark again. */
    touch: (keyIds: string[]) => touchKeys(pool, keyIds),
  };
}

async function createKey(db: Db, input: NewKey): Promise<{ key: string; record: KeyRecord }> {
  const key = input.key ?? `frs_${randomToken()}`;
  const { rows } = await db.query<KeyRow>(
    `insert into api_keys
       (id, project_id, name, created_by, shown_prefix, key_hash, rate_limit_rpm, expires_at,
        scopes, monthly_budget_usd)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     returning ${keyColumns}`,
    [
      randomUUID(),
      input.projectId,
      input.name,
      input.createdBy,
      key.slice(0, limits.key.shownChars),
      hashOfToken(key),
      input.rateLimitRpm ?? limits.key.ratePerMinute,
      input.expiresAt ?? null,
      input.scopes ?? null,
      input.monthlyBudgetUsd ?? null,
    ],
  );
  if (!rows[0]) throw new Error('the key was not stored');
  return { key, record: toKeyRecord(rows[0]) };
}

async function findByKey(db: Db, key: string): Promise<KeyRecord | null> {
  const text = `select ${keyColumns} from api_keys where key_hash = $1`;
  const values = [hashOfToken(key)];
  const { rows } = await db.query<KeyRow>({ name: 'find_key', text, values });
  return rows[0] ? toKeyRecord(rows[0]) : null;
}

async function findWithFlow(
  db: Db,
  key: string,
  flowId: string,
): Promise<{ key: KeyRecord; flow: FlowOutline | null } | null> {
  const text = `
    select k.*, ${outlineOfFlow}
    from (select ${keyColumns} from api_keys where key_hash = $1) k
    left join flows f on f.id = $2 and f.archived_at is null`;
  const values = [hashOfToken(key), flowId];
  const name = 'find_key_with_flow';
  const { rows } = await db.query<KeyWithFlowRow>({ name, text, values });
  return rows[0] ? { key: toKeyRecord(rows[0]), flow: toFlowOutline(rows[0]) } : null;
}

async function activeOf(db: Db, keyIds: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from api_keys
     where id = any($1::uuid[]) and revoked_at is null
       and (expires_at is null or expires_at > db_clock())`,
    [keyIds],
  );
  return rows.map(({ id }) => id);
}

async function listKeys(db: Db, projectId: string): Promise<KeyRecord[]> {
  const text = `select ${keyColumns} from api_keys where project_id = $1 order by created_at, id`;
  const { rows } = await db.query<KeyRow>(text, [projectId]);
  return rows.map(toKeyRecord);
}

async function findKey(db: Db, keyId: string): Promise<KeyRecord | null> {
  const text = `select ${keyColumns} from api_keys where id = $1`;
  const { rows } = await db.query<KeyRow>(text, [keyId]);
  return rows[0] ? toKeyRecord(rows[0]) : null;
}

async function findLockedKey(db: Db, keyId: string): Promise<KeyRecord | null> {
  await db.query('select from api_keys where id = $1 for no key update', [keyId]);
  return findKey(db, keyId);
}

async function updateKey(db: Db, keyId: string, patch: KeyPatch): Promise<KeyRecord | null> {
  const { rows } = await db.query<KeyRow>(
    `update api_keys set monthly_budget_usd = case when $2 then $3 else monthly_budget_usd end
     where id = $1
     returning ${keyColumns}`,
    [keyId, patch.monthlyBudgetUsd !== undefined, patch.monthlyBudgetUsd ?? null],
  );
  return rows[0] ? toKeyRecord(rows[0]) : null;
}

async function pageOfKeys(
  db: Db,
  projectId: string,
  { limit, after }: { limit: number; after?: string },
): Promise<{ keys: KeyRecord[]; next: string | null }> {
  const { rows } = await db.query<KeyRow>(
    `select ${keyColumns} from api_keys
     where project_id = $1
       and ($2::uuid is null
            or (created_at, id) > (select k.created_at, k.id from api_keys k where k.id = $2))
     order by created_at, id
     limit $3`,
    [projectId, after ?? null, limit + 1],
  );
  const keys = rows.slice(0, limit).map(toKeyRecord);
  return { keys, next: rows.length > limit ? (keys.at(-1)?.keyId ?? null) : null };
}

async function revokeKey(db: Db, keyId: string): Promise<KeyRecord | null> {
  const { rows } = await db.query<KeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, db_clock()) where id = $1
     returning ${keyColumns}`,
    [keyId],
  );
  return rows[0] ? toKeyRecord(rows[0]) : null;
}

async function revokeFirst(db: Db, keyId: string): Promise<boolean> {
  const text = 'update api_keys set revoked_at = db_clock() where id = $1 and revoked_at is null';
  return (await db.query(text, [keyId])).rowCount === 1;
}

/** Skips locked keys, because the keys are of several projects. Returns the skipped ones. */
async function touchKeys(db: Db, keyIds: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with unlocked as (
       select id from api_keys where id = any($1) for no key update skip locked
     ),
     touched as (
       update api_keys set last_used_at = greatest(last_used_at, db_clock())
       where id in (select id from unlocked)
     )
     select id from api_keys where id = any($1) and id not in (select id from unlocked)`,
    [keyIds],
  );
  return rows.map(({ id }) => id);
}
