// Reads a client's archive of regular files and folders, in the formats of POSIX (ustar, pax) and
// GNU tar. Everything else is rejected. Nothing is ignored that another program might read as a
// different file.

import { isUtf8 } from 'node:buffer';
import { checkInputPath } from '../../../core/files/file-path.ts';
import { limits } from '../../../core/limits.ts';
import { invalid } from '../../errors.ts';
import { type DecodedFile, describeFile } from '../input-files.ts';
import { pathOfRecords } from './pax-records.ts';
import { readTarHeader, type TarHeader } from './read-tar-header.ts';

const blockBytes = 512;

/** The files of an archive. Folders are only checked: writing the files creates their folders. */
export function readTar(archive: Buffer): DecodedFile[] {
  const files: DecodedFile[] = [];
  const folders = new Set<string>();
  let longPath: string | null = null;
  let recordBytes = 0;
  let at = 0;
  for (let entry = 1; ; entry += 1) {
    const label = `body: entry ${entry}`;
    const block = archive.subarray(at, at + blockBytes);
    if (block.length < blockBytes) throw incomplete();
    if (isZero(block)) break;
    if (entry > limits.http.archiveEntriesMax)
      throw tooMany(limits.http.archiveEntriesMax, 'entries');
    const header = readTarHeader(block, label);
    const from = at + blockBytes;
    at = from + Math.ceil(header.size / blockBytes) * blockBytes;
    if (at > archive.length) throw incomplete();
    const content = archive.subarray(from, from + header.size);
    if (isExtension(header)) {
      recordBytes += header.size;
      if (recordBytes > limits.http.archiveRecordsMaxBytes) throw tooManyRecords();
      if (longPath !== null) throw invalid(`${label}: must be the file that the last entry names`);
      longPath = readExtension(header, content, label);
      continue;
    }
    const path = pathOf(longPath ?? header.path, header, label);
    longPath = null;
    if (header.type === 'folder') folders.add(path);
    else if (files.length === limits.file.perRequestMax) throw tooMany(files.length, 'files');
    else files.push(fileOf(path, { header, content, label }));
  }
  if (longPath !== null) throw incomplete();
  if (!isZero(archive.subarray(at)) || archive.length < at + 2 * blockBytes) {
    throw invalid('body: the archive must end with two empty blocks, and have nothing after them');
  }
  const blocked = files.find(({ path }) => folders.has(path));
  if (blocked !== undefined) throw invalid(`${blocked.label}: is a folder of this archive too`);
  return files;
}

const zeros = Buffer.alloc(64 * 1024);

/** Compares large parts: a loop over an archive's bytes would delay all other requests. */
function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const part = bytes.subarray(at, at + zeros.length);
    if (!part.equals(zeros.subarray(0, part.length))) return false;
  }
  return true;
}

const incomplete = () => invalid('body: the archive is incomplete');

const tooMany = (max: number, what: 'entries' | 'files') =>
  invalid(`body: the archive must have at most ${max} ${what}`);

const tooManyRecords = () => {
  const max = limits.http.archiveRecordsMaxBytes;
  return invalid(`body: long paths and pax records must be at most ${max} bytes in total`);
};

/** An entry that describes the next entry, or all entries. */
const isExtension = ({ type }: TarHeader): boolean =>
  type === 'records' || type === 'all records' || type === 'long path';

/** The path of the next entry; null if the entry has none. */
function readExtension({ type }: TarHeader, content: Buffer, label: string): string | null {
  if (type === 'records') return pathOfRecords(content, label);
  if (type === 'long path') return textOf(content, label).replace(/\0$/, '');
  const path = pathOfRecords(content, label);
  if (path !== null) throw invalid(`${label}: must not set one path for all files`);
  return null;
}

function textOf(bytes: Buffer, label: string): string {
  if (!isUtf8(bytes)) throw invalid(`${label}: the path must be UTF-8`);
  return bytes.toString();
}

/** The path in the working directory. `tar -c .` writes paths that begin with `./`. */
function pathOf(written: string, { type }: TarHeader, label: string): string {
  const isFolder = type === 'folder';
  const path = written.replace(/^\.\//, '').replace(isFolder ? /\/$/ : '', '');
  if (isFolder && ['', '.'].includes(path)) return '';
  const check = checkInputPath(path);
  if (!check.ok) throw invalid(`${label}: the path ${check.reason}`);
  return path;
}

interface Entry {
  header: TarHeader;
  content: Buffer;
  label: string;
}

function fileOf(path: string, { header, content, label }: Entry): DecodedFile {
  if (content.length > limits.file.maxBytes) {
    throw invalid(`${label}: must be at most ${limits.file.maxBytes} bytes`);
  }
  const mode = (header.mode & 0o100) === 0 ? 0o644 : 0o755;
  return describeFile({ path, content, mode, label });
}
