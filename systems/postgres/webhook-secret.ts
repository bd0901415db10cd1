import { randomBytes } from 'node:crypto';
import type { Db } from './pool.ts';
import type { Sealer } from './seal.ts';

const secretBytes = 32;

/**
 * The project's signing secret, made at the first call. Several first calls at once: one secret is
 * kept, and every caller gets that one.
 */
export async function ensureWebhookSecret(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<string> {
  const context = `project:${projectId}`;
  const made = () => sealer.seal(`whs_${randomBytes(secretBytes).toString('base64url')}`, context);
  const sealed =
    (await findSealedSecret(db, projectId)) ?? (await claimSealedSecret(db, projectId, made()));
  return sealer.open(sealed, context);
}

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
  if (!rows[0]) throw new Error(`there is no project ${projectId}`);
  return rows[0].sealed;
}
