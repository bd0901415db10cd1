import { writeFile } from 'node:fs/promises';
import { readBackupConfig, readRestoreConfig } from '../config/backup-config.ts';
import { findPgTools } from '../systems/postgres/client/pg-tools.ts';
import { createPool } from '../systems/postgres/client/pool.ts';
import {
  type DatabaseFacts,
  dump,
  readFacts,
  restore,
} from '../systems/postgres/maintenance/dump.ts';
import { migrate } from '../systems/postgres/schema/migrate.ts';
import { readSchemaFiles } from '../systems/postgres/schema/schema-files.ts';
import { purgeRuns } from '../systems/redis/purge-runs.ts';
import { type BackupHead, messageOf, openBackup, writeBackup } from './backup/backup-file.ts';
import { keyIdOf, openKey, sealKey } from './backup/sealed-key.ts';
import { CliError } from './format-error.ts';
import { rejectEarlierData } from './reject-earlier-data.ts';

export type Backups = typeof backups;

export const backups = { backUp: createBackup, restoreBackup, extractKey: extractKey };

interface BackupResult {
  file: string;
  bytes: number;
  dumpedAt: Date;
  hasKey: boolean;
}

async function createBackup(file: string, passphrase: string | null): Promise<BackupResult> {
  const { databaseUrl, encryptionKey, programEnv: env } = readBackupConfig();
  await rejectEarlierData(databaseUrl);
  const { now, serverMajor, schema } = await readDatabaseFacts(databaseUrl);
  if (schema === null)
    throw new CliError('The database has no schema: there is nothing to back up.');
  const programs = await findPgTools({ databaseUrl, env }, serverMajor);
  const key = passphrase === null ? null : sealKey(encryptionKey, passphrase);
  const head = { dumpedAt: now, schema, keyId: keyIdOf(encryptionKey), key };
  const bytes = await writeBackup(file, head, (into) => dump(programs, into));
  return { file, bytes, dumpedAt: now, hasKey: key !== null };
}

interface RestoreResult {
  file: string;
  dumpedAt: Date;
}

/**
 * Run data in Redis is purged first, because it is newer than the restored database. The restore
 * itself is one transaction; the schema is migrated afterwards.
 */
async function restoreBackup(
  file: string,
  { replace }: { replace: boolean },
): Promise<RestoreResult> {
  const { databaseUrl, encryptionKey, programEnv: env, redis, instance } = readRestoreConfig();
  const backup = await openBackup(file);
  const facts = await readDatabaseFacts(databaseUrl);
  const schemas = (await readSchemaFiles()).migrations.map(({ name }) => name);
  assertRestorable(backup.head, { key: encryptionKey, facts, replace, schemas });
  const programs = await findPgTools({ databaseUrl, env }, facts.serverMajor);
  await purgeRuns({ ...redis, instance }).catch((error: unknown) => {
    throw new CliError(`Redis cannot be reached or rejects the request: ${messageOf(error)}`);
  });
  const { dumpedAt } = backup.head;
  await restore(programs, { dump: backup.dump(), dumpedAt });
  await migrate(databaseUrl);
  return { file, dumpedAt };
}

async function extractKey(
  file: string,
  { passphrase, path }: { passphrase: string; path: string },
): Promise<void> {
  const { head } = await openBackup(file);
  if (head.key === null) throw new CliError('This backup does not contain the key.');
  const key = openKey(head.key, passphrase);
  if (key === null) throw new CliError('Wrong passphrase for this backup.');
  const content = `${key.toString('base64')}\n`;
  await writeFile(path, content, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    throw new CliError(`${path} cannot be written: ${messageOf(error)}.`);
  });
}

interface RestoreTarget {
  key: Buffer;
  facts: DatabaseFacts;
  replace: boolean;
  /** The migrations of this version. */
  schemas: string[];
}

function assertRestorable(head: BackupHead, { key, facts, replace, schemas }: RestoreTarget): void {
  if (head.keyId !== keyIdOf(key))
    throw new CliError(
      'ENCRYPTION_KEY is not the key of this backup, so its secrets could not be decrypted. ' +
        'Extract the key with --key-to and set it.',
    );
  if (!schemas.includes(head.schema))
    throw new CliError(`The backup was made by another version of the service (${head.schema}).`);
  if (facts.users.length > 0)
    throw new CliError(`The service is running (${facts.users.join(', ')}): stop it first.`);
  if (!facts.isEmpty && !replace)
    throw new CliError('The database is not empty. Use --replace to discard its content.');
}

async function readDatabaseFacts(databaseUrl: string): Promise<DatabaseFacts> {
  const pool = createPool(databaseUrl, { applicationName: 'flowrun-cli', max: 1 });
  try {
    return await readFacts(pool);
  } finally {
    await pool.end();
  }
}
