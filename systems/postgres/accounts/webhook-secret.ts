import { randomBytes } from 'node:crypto';
import type { Sealer } from '../admission/seal.ts';
import type { Db } from '../client/pool.ts';

const secretBytes = 32;

/** The secrets that sign a project's webhooks. */
export interface WebhookSecrets {
  secret: string;
  /** During a rotation, the secret that will replace it. */
  nextSecret: string | null;
}

/**
 * The project's signing secrets. The first call creates the current one. Concurrent first calls all
 * return the same secret.
 */
export async function ensureWebhookSecrets(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<WebhookSecrets> {
  const found = await findSealed(db, projectId);
  const sealed =
    found?.sealed ??
    (await claimSealedSecret(db, projectId, sealer.seal(newSecret(), contextOf(projectId))));
  const open = (secret: Buffer): string => sealer.open(secret, contextOf(projectId));
  return { secret: open(sealed), nextSecret: found?.next ? open(found.next) : null };
}

/**
 * Begins a rotation: later attempts are signed with the current secret and a second one. A second
 * call returns the same secret.
 */
export async function prepareNextWebhookSecret(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<string> {
  const { rows } = await db.query<{ sealed: Buffer }>(
    `update projects set webhook_next_secret_sealed = coalesce(webhook_next_secret_sealed, $2)
     where id = $1
     returning webhook_next_secret_sealed as sealed`,
    [projectId, sealer.seal(newSecret(), contextOf(projectId))],
  );
  return openStored(rows[0], sealer, projectId);
}

/**
 * Ends a rotation: the next secret replaces the current one. Null if there is no next secret. So a
 * call that is repeated because its answer was lost changes nothing.
 */
export async function rotateWebhookSecret(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<string | null> {
  const { rows } = await db.query<{ sealed: Buffer }>(
    `update projects
     set webhook_secret_sealed = webhook_next_secret_sealed, webhook_next_secret_sealed = null
     where id = $1 and webhook_next_secret_sealed is not null
     returning webhook_secret_sealed as sealed`,
    [projectId],
  );
  return rows[0] ? openStored(rows[0], sealer, projectId) : null;
}

/**
 * A new secret replaces the current one and the next one at once. Of two concurrent calls the later
 * secret counts; each call returns its own.
 */
export async function replaceWebhookSecret(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<string> {
  const { rows } = await db.query<{ sealed: Buffer }>(
    `update projects set webhook_secret_sealed = $2, webhook_next_secret_sealed = null
     where id = $1
     returning webhook_secret_sealed as sealed`,
    [projectId, sealer.seal(newSecret(), contextOf(projectId))],
  );
  return openStored(rows[0], sealer, projectId);
}

function openStored(
  row: { sealed: Buffer } | undefined,
  sealer: Sealer,
  projectId: string,
): string {
  if (!row) throw new Error(`no project ${projectId}`);
  return sealer.open(row.sealed, contextOf(projectId));
}

const newSecret = (): string => `whs_${randomBytes(secretBytes).toString('base64url')}`;

const contextOf = (projectId: string): string => `project:${projectId}`;

interface SealedSecrets {
  sealed: Buffer | null;
  next: Buffer | null;
}

async function findSealed(db: Db, projectId: string): Promise<SealedSecrets | undefined> {
  const text = `
    select webhook_secret_sealed as sealed, webhook_next_secret_sealed as next
    from projects where id = $1`;
  const { rows } = await db.query<SealedSecrets>(text, [projectId]);
  return rows[0];
}

async function claimSealedSecret(db: Db, projectId: string, sealed: Buffer): Promise<Buffer> {
  const { rows } = await db.query<{ sealed: Buffer }>(
    `update projects set webhook_secret_sealed = coalesce(webhook_secret_sealed, $2)
     where id = $1
     returning webhook_secret_sealed as sealed`,
    [projectId, sealed],
  );
  if (!rows[0]) throw new Error(`no project ${projectId}`);
  return rows[0].sealed;
}

/** Whether this key opens a stored secret; null if there is none. */
export async function canOpenSecrets(db: Db, sealer: Sealer): Promise<boolean | null> {
  const { rows } = await db.query<{ id: string; sealed: Buffer }>(
    `select id, webhook_secret_sealed as sealed from projects
     where webhook_secret_sealed is not null limit 1`,
  );
  if (!rows[0]) return null;
  try {
    return sealer.open(rows[0].sealed, contextOf(rows[0].id)) !== '';
  } catch {
    return false;
  }
}
