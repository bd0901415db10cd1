import { randomBytes } from 'node:crypto';
import type { Sealer } from '../admission/seal.ts';
import type { Db } from '../client/pool.ts';

const secretBytes = 32;

/**
 * The project's signing secret, created at the first call. Concurrent first calls all return the
 * same secret.
 */
export async function ensureWebhookSecret(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<string> {
  const sealed =
    (await findSealedSecret(db, projectId)) ??
    (await claimSealedSecret(db, projectId, sealer.seal(newSecret(), contextOf(projectId))));
  return sealer.open(sealed, contextOf(projectId));
}

/** Of two concurrent calls the later secret counts; each call returns its own. */
export async function rotateWebhookSecret(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<string> {
  const secret = newSecret();
  const text = 'update projects set webhook_secret_sealed = $2 where id = $1';
  await db.query(text, [projectId, sealer.seal(secret, contextOf(projectId))]);
  return secret;
}

const newSecret = (): string => `whs_${randomBytes(secretBytes).toString('base64url')}`;

const contextOf = (projectId: string): string => `project:${projectId}`;

async function findSealedSecret(db: Db, projectId: string): Promise<Buffer | null> {
  const text = 'select webhook_secret_sealed as sealed from projects where id = $1';
  const { rows } = await db.query<{ sealed: Buffer | null }>(text, [projectId]);
  return rows[0]?.sealed ?? null;
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
