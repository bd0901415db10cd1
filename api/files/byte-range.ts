/** A range of bytes; `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses a `Range` header for a file of a given size. Null means the whole file, also for forms
 * that a server may ignore (several ranges, other units, invalid ones). `none`: not satisfiable.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'none' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (match === null) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  if (first === '') return suffix(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return null;
  return start < size ? { start, end } : 'none';
}

function suffix(length: number, size: number): ByteRange | 'none' {
  if (length === 0 || size === 0) return 'none';
  return { start: Math.max(0, size - length), end: size };
}
