// A backup is one file: a line that says so, a line of JSON about it, the dump as pg_dump made it, and
// the SHA-256 of all before. It appears under its name when it is whole, and never in place of another.

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
  /** Of the key that the secrets in the dump are sealed with. */
  keyId: string;
  /** Null where it was left out. */
  key: SealedKey | null;
}

export interface OpenedBackup {
  head: BackupHead;
  dump(): Readable;
}

const firstLine = 'flowrun backup 1\n';
const digestBytes = 32;
const headMaxBytes = 4_096;

/** Returns how long it is. */
export async function writeBackup(
  path: string,
  head: BackupHead,
  dumpInto: (file: Writable) => Promise<void>,
): Promise<number> {
  if (await isThere(path)) throw taken(path);
  const part = `${path}.${randomUUID().slice(0, 8)}.part`;
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new CliError(`${path} cannot be written: ${messageOf(error)}.`);
  });
  try {
    const bytes = await fill(file, head, dumpInto);
    await link(part, path).catch((error: unknown) => {
      throw isTaken(error) ? taken(path) : error;
    });
    await syncFolder(path);
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

/** Reads all of it once: what is not whole is not begun with. */
export async function openBackup(path: string): Promise<OpenedBackup> {
  const size = await sizeOf(path);
  const { head, headBytes } = await readHead(path);
  const end = size - digestBytes;
  if (end <= headBytes || !(await isWhole(path, end))) throw damaged(path);
  return { head, dump: () => createReadStream(path, { start: headBytes, end: end - 1 }) };
}

async function readHead(path: string): Promise<{ head: BackupHead; headBytes: number }> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headMaxBytes), 0, headMaxBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    const lineEnd = start.indexOf('\n', firstLine.length);
    const isOurs = start.subarray(0, firstLine.length).equals(Buffer.from(firstLine));
    if (!isOurs || lineEnd === -1) throw new CliError(`${path} is no backup of this service.`);
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

async function isWhole(path: string, end: number): Promise<boolean> {
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
  new CliError(`${path} is damaged: it is not what was written.`, { cause });

const taken = (path: string): CliError =>
  new CliError(`There is a file ${path} already: it is not overwritten.`);

async function isThere(path: string): Promise<boolean> {
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

/** The name is kept as well as the content. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(resolve(path)));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
