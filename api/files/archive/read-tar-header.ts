import { isUtf8 } from 'node:buffer';
import { invalid } from '../../errors.ts';

export interface TarHeader {
  path: string;
  /** Permission bits. */
  mode: number;
  size: number;
  type: 'file' | 'folder' | 'records' | 'all records' | 'long path';
}

/** Reads a header of 512 bytes. */
export function readTarHeader(block: Buffer, label: string): TarHeader {
  const sum = numberIn(block, { from: 148, to: 156 });
  if (sum === null || sum !== sumOf(block)) throw invalid(`${label}: has a wrong checksum`);
  const magic = block.toString('latin1', 257, 265);
  if (magic !== posixMagic && magic !== gnuMagic) {
    throw invalid(`${label}: is in a format other than ustar, pax or GNU tar`);
  }
  const letter = block.toString('latin1', 156, 157);
  const type = types[letter];
  if (type === undefined) throw invalid(`${label}: is ${kindOf(letter)}, not a file or a folder`);
  const size = numberIn(block, { from: 124, to: 136 });
  const mode = numberIn(block, { from: 100, to: 108 });
  if (size === null || mode === null) throw invalid(`${label}: has a malformed size or mode`);
  if (type === 'folder' && size > 0) throw invalid(`${label}: is a folder with content`);
  const name = textIn(block, { from: 0, to: 100 }, label);
  const prefix = magic === posixMagic ? textIn(block, { from: 345, to: 500 }, label) : '';
  return { path: prefix === '' ? name : `${prefix}/${name}`, mode, size, type };
}

const posixMagic = 'ustar\x0000';
const gnuMagic = 'ustar  \0';

const types: Record<string, TarHeader['type']> = {
  '0': 'file',
  '\0': 'file',
  '5': 'folder',
  x: 'records',
  g: 'all records',
  L: 'long path',
};

const otherKinds: Record<string, string> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a named pipe',
  K: 'a link with a long target',
  S: 'a sparse file',
};

const kindOf = (letter: string): string => otherKinds[letter] ?? 'an entry of an unknown type';

interface Field {
  from: number;
  to: number;
}

/** An octal number that ends with a blank or NUL; null for other forms, such as binary. */
function numberIn(block: Buffer, { from, to }: Field): number | null {
  const [, digits] = /^ *([0-7]+)[ \0]*$/.exec(block.toString('latin1', from, to)) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 8);
}

/** The sum of all bytes. The field of the sum counts as blanks. */
function sumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [index, byte] of block.entries()) if (index < 148 || index >= 156) sum += byte;
  return sum;
}

/** Text up to a NUL or the end of the field. */
function textIn(block: Buffer, { from, to }: Field, label: string): string {
  const field = block.subarray(from, to);
  const end = field.indexOf(0);
  const bytes = end === -1 ? field : field.subarray(0, end);
  if (end !== -1 && field.subarray(end).some((byte) => byte !== 0)) {
    throw invalid(`${label}: has text after the end of its path`);
  }
  if (!isUtf8(bytes)) throw invalid(`${label}: the path must be UTF-8`);
  return bytes.toString();
}
