import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkFilePath } from '../../../core/files/file-path.ts';

const friendly = [
  'a',
  'a.txt',
  'src/a/b/c.ts',
  '...',
  'a/..b/c..',
  '.env',
  '.gitignore',
  '.github/workflows/ci.yml',
  '.git/config',
  'a b/ü/日本語/😀.md',
  '-rf',
  '~/x',
  '%2e%2e/x',
  '%00',
  'C:x',
  'con',
  'line\nend',
  'a'.repeat(255),
  `${'a'.repeat(255)}/${'b'.repeat(255)}`,
  'ü'.repeat(127),
  new Array(256).fill('a').join('/'),
];

/** Each of these makes any path invalid. */
const badSegments = ['', '.', '..', 'a\0', '\0', '\\', '..\\', 'a\\b', 'x'.repeat(256)];
const badSegmentsTooLong = ['ü'.repeat(128), '日'.repeat(86), '😀'.repeat(64), '\ud800', 'a\udfff'];
const frames: ((segment: string) => string)[] = [
  (segment) => segment,
  (segment) => `${segment}/a`,
  (segment) => `a/${segment}`,
  (segment) => `a/${segment}/b`,
  (segment) => `a/b/c/${segment}/d/e`,
  (segment) => `${segment}/${segment}`,
  (segment) => `/${segment}`,
  (segment) => `//${segment}`,
  (segment) => `./${segment}`,
  (segment) => `../${segment}`,
  (segment) => `a/../${segment}`,
  (segment) => `a//${segment}`,
  (segment) => `a/./${segment}`,
  (segment) => `${segment}/`,
  (segment) => `${segment}/..`,
  (segment) => `${segment}/.`,
  (segment) => `${segment}//`,
  (segment) => `\\${segment}`,
  (segment) => `a\\..\\${segment}`,
  (segment) => `..\\${segment}`,
  (segment) => `a/${'b/'.repeat(256)}${segment}`,
  (segment) => `${segment}\0`,
  (segment) => `${segment}\0.txt`,
];
const spoiling = frames.slice(6);
const hostile = [
  ...[...badSegments, ...badSegmentsTooLong].flatMap((segment) =>
    frames.map((frame) => frame(segment)),
  ),
  ...friendly.flatMap((path) => spoiling.map((frame) => frame(path))),
];

describe('a path', () => {
  test.each(friendly)('%j is a valid path', (path) => {
    expect(checkFilePath(path)).toEqual({ ok: true });
  });

  test('600 hostile paths are rejected with a reason', () => {
    expect(new Set(hostile).size).toBeGreaterThan(600);
    for (const path of hostile) {
      const check = checkFilePath(path);
      expect(check.ok, JSON.stringify(path)).toBe(false);
      expect(check.ok ? '' : check.reason).toMatch(/^(is|contains|has) /);
    }
  });

  test('has at most 512 bytes, in UTF-8', () => {
    const half = 'b'.repeat(254);
    expect(checkFilePath(`${'a'.repeat(255)}/${half}/c`).ok).toBe(true);
    expect(checkFilePath(`${'a'.repeat(255)}/${half}/cd`).ok).toBe(false);
    expect(checkFilePath(`${'ü'.repeat(127)}/${'ü'.repeat(127)}/ü`)).toEqual({ ok: true });
    expect(checkFilePath(`${'ü'.repeat(127)}/${'ü'.repeat(127)}/üü`).ok).toBe(false);
    expect(checkFilePath('x'.repeat(40_000_000)).ok).toBe(false);
  });

  test('that is accepted stays below its directory', () => {
    const segment = fc.oneof(
      fc.constantFrom('.', '..', '', 'a', '.git'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(
        fc.array(segment).map((parts) => parts.join('/')),
        (path) => {
          if (!checkFilePath(path).ok) return;
          const { pathname } = new URL(
            path.split('/').map(encodeURIComponent).join('/'),
            'file:///w/d/',
          );
          expect(pathname.startsWith('/w/d/')).toBe(true);
          expect(pathname.length).toBeGreaterThan('/w/d/'.length);
        },
      ),
      { numRuns: 500 },
    );
  });
});
