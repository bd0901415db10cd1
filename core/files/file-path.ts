import { limits } from '../limits.ts';
import { utf8Bytes } from '../utf8-bytes.ts';

type PathCheck = { ok: true } | { ok: false; reason: string };

/**
 * Checks that a path may name a file of a working directory: a relative POSIX path in canonical
 * form. Call it after all decoding.
 */
export function checkFilePath(path: string): PathCheck {
  if (path === '') return rejected('is empty');
  if (path.includes('\0')) return rejected('contains a NUL');
  if (path.includes('\\')) return rejected('contains a backslash');
  if (path.startsWith('/')) return rejected('is not relative');
  if (path.length > limits.file.pathMaxBytes || utf8Bytes(path) > limits.file.pathMaxBytes) {
    return rejected(`is longer than ${limits.file.pathMaxBytes} bytes`);
  }
  if (/[\ud800-\udfff]/u.test(path)) return rejected('contains a lone surrogate');
  return path.split('/').map(checkSegment).find(isRejected) ?? { ok: true };
}

/** The limit of common file systems. */
const segmentMaxBytes = 255;

const named = (segments: string): string =>
  `^(?!/)(?!(?:[^\\u0000]*[/])?(?:${segments}|[^/]{${segmentMaxBytes + 1}}[^/]*)(?:/|$))[^\\u0000\\\\]+$`;

/**
 * The rules of `checkFilePath` that a regular expression can state: it counts characters instead of
 * bytes.
 */
export const filePathPattern = named('\\.{0,2}');

/** The same for `checkInputPath`. */
export const inputPathPattern = named('\\.{0,2}|\\.[Gg][Ii][Tt]');

/** Checks the path of a request's input file. Clients may not write git's own files. */
export function checkInputPath(path: string): PathCheck {
  const check = checkFilePath(path);
  if (!check.ok) return check;
  const isGits = path.split('/').some((segment) => segment.toLowerCase() === '.git');
  return isGits ? rejected('has the segment .git') : check;
}

function checkSegment(segment: string): PathCheck {
  if (segment === '') return rejected('has an empty segment');
  if (segment === '.' || segment === '..') return rejected(`has the segment ${segment}`);
  if (utf8Bytes(segment) > segmentMaxBytes) {
    return rejected(`has a segment longer than ${segmentMaxBytes} bytes`);
  }
  return { ok: true };
}

function rejected(reason: string): PathCheck {
  return { ok: false, reason };
}

function isRejected(check: PathCheck): boolean {
  return !check.ok;
}
