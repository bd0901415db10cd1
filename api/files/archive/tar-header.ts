// The format of POSIX.1-2001 (pax), which every tar program reads. Only regular files are written.

interface TarFile {
  path: string;
  size: number;
  /** Permission bits. */
  mode: number;
  modifiedAt: Date;
}

const blockBytes = 512;
const nameBytes = 100;

/** The end-of-archive marker. */
export const tarEnd = Buffer.alloc(2 * blockBytes);

/** The header of a file. The same file yields the same bytes. */
export function tarHeader(file: TarFile): Buffer {
  const { path, size } = file;
  const mode = file.mode & 0o777;
  const timeSeconds = clamp(Math.floor(file.modifiedAt.getTime() / 1_000));
  const header = ustarHeader({ name: path, size, mode, timeSeconds, type: '0' });
  if (isPlain(path)) return header;
  const record = paxRecord('path', path);
  const extra = { name: 'PaxHeader', size: record.length, mode: 0o644, timeSeconds, type: 'x' };
  return Buffer.concat([ustarHeader(extra), record, tarPadding(record.length), header]);
}

/** The padding after content of this size, up to a whole block. */
export const tarPadding = (size: number): Buffer => Buffer.alloc(wholeBlocks(size) - size);

/** The size of a file with its header and padding. */
export function tarredBytes({ path, size }: Pick<TarFile, 'path' | 'size'>): number {
  const record = isPlain(path) ? 0 : blockBytes + wholeBlocks(paxRecord('path', path).length);
  return record + blockBytes + wholeBlocks(size);
}

const wholeBlocks = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

/** Other paths are in a separate record, because old readers of this field need ASCII. */
const isPlain = (path: string): boolean => path.length <= nameBytes && /^[ -~]+$/.test(path);

/** Seconds since 1970 that the field can hold. An agent may choose any time for its files. */
const clamp = (seconds: number): number => Math.min(Math.max(seconds, 0), 0o77777777777);

interface UstarFields {
  name: string;
  size: number;
  mode: number;
  timeSeconds: number;
  type: string;
}

function ustarHeader({ name, size, mode, timeSeconds, type }: UstarFields): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, nameBytes);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108); // user
  header.write(octal(0, 7), 116); // group
  header.write(octal(size, 11), 124);
  header.write(octal(timeSeconds, 11), 136);
  header.write(' '.repeat(8), 148); // the checksum is computed with blanks in its place
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  header.write(`${octal(sumOf(header), 6)}\0 `, 148);
  return header;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) sum += byte;
  return sum;
}

/** A record begins with its length, which includes the digits of the length. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (length !== rest.length + String(length).length) {
    length = rest.length + String(length).length;
  }
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
