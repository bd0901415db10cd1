// The backup file format: a magic line, a line of JSON metadata, the output of pg_dump, and the
// SHA-256 of all preceding bytes. The file appears under its name once it is complete, and never
// replaces one.

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { CliError } from '../format-error.ts';
import type { SealedKey } from './sealed-key.ts';

export interface BackupHead {
  dumpedAt: Date;
  /** The last migration of the database. */
  schema: string;
  /** The ID of the key that encrypts the secrets in the dump. */
  keyId: string;
  /** Null if the key is not part of the backup. */
  key: SealedKey | null;
}

interface OpenedBackup {
  head: BackupHead;
  dump(): Readable;
}

const firstLine = 'flowrun backup 1\n';
const digestBytes = 32;
const headMaxBytes = 4_096;

/** Returns the size in bytes. */
export async function writeBackup(
  path: string,
  head: BackupHead,
  dumpInto: (file: Writable) => Promise<void>,
): Promise<number> {
  if (await exists(path)) throw alreadyExists(path);
  const part = `${path}.${randomUUID().slice(0, 8)}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new CliError(`${path} cannot be written: ${messageOf(error)}.`);
  });
  try {
    const bytes = await fill(file, head, dumpInto);
    await link(part, path).catch((error: unknown) => {
      throw isAlreadyExists(error) ? alreadyExists(path) : error;
    });
    await syncDirectory(path);
    return bytes;
  } finally {
    await file.close();
    await rm(part, { force: true });
  }
}

async function fill(
  file: FileHandle,
  head: BackupHead,
  dumpInto: (file: Writable) => Promise<void>,
): Promise<number> {
  const hash = createHash('sha256');
  let bytes = 0;
  const put = async (chunk: Buffer): Promise<void> => {
    hash.update(chunk);
    await file.appendFile(chunk);
    bytes += chunk.length;
  };
  await put(Buffer.from(`${firstLine}${JSON.stringify(written(head))}\n`));
  await dumpInto(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => void put(chunk).then(() => done(), done),
    }),
  );
  await put(hash.copy().digest());
  await file.sync();
  return bytes;
}

/** Verifies the whole file first, so that a restore never starts with a damaged one. */
export async function openBackup(path: string): Promise<OpenedBackup> {
  const size = await sizeOf(path);
  const { head, headBytes } = await readHead(path);
  const end = size - digestBytes;
  if (end <= headBytes || !(await isIntact(path, end))) throw damaged(path);
  return { head, dump: () => createReadStream(path, { start: headBytes, end: end - 1 }) };
}

async function readHead(path: string): Promise<{ head: BackupHead; headBytes: number }> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headMaxBytes), 0, headMaxBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    const lineEnd = start.indexOf('\n', firstLine.length);
    const isOurs = start.subarray(0, firstLine.length).equals(Buffer.from(firstLine));
    if (!isOurs || lineEnd === -1) throw new CliError(`${path} is not a backup of this service.`);
    const line = start.subarray(firstLine.length, lineEnd).toString();
    return { head: headIn(path, line), headBytes: lineEnd + 1 };
  } finally {
    await file.close();
  }
}

function headIn(path: string, line: string): BackupHead {
  try {
    return headShape.parse(JSON.parse(line));
  } catch (cause) {
    throw damaged(path, cause);
  }
}

async function isIntact(path: string, end: number): Promise<boolean> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { end: end - 1 })) hash.update(chunk as Buffer);
  const stored: Buffer[] = [];
  for await (const chunk of createReadStream(path, { start: end })) stored.push(chunk as Buffer);
  return hash.digest().equals(Buffer.concat(stored));
}

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));

const headShape = z.object({
  dumpedAt: z.iso.datetime().transform((text) => new Date(text)),
  schema: z.string(),
  keyId: z.string(),
  key: z.object({ salt: base64, sealed: base64 }).nullable(),
});

function written({ key, ...head }: BackupHead): object {
  const text = (bytes: Buffer): string => bytes.toString('base64');
  return { ...head, key: key && { salt: text(key.salt), sealed: text(key.sealed) } };
}

const damaged = (path: string, cause?: unknown): CliError =>
  new CliError(`${path} is damaged: its checksum does not match.`, { cause });

const alreadyExists = (path: string): CliError =>
  new CliError(`${path} already exists and is not overwritten.`);

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    throw new CliError(`${path} cannot be read: ${messageOf(error)}.`);
  });
  return found.size;
}

/** Persists the directory entry as well as the content. */
async function syncDirectory(path: string): Promise<void> {
  const folder = await open(dirname(resolve(path)));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const isAlreadyExists = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
