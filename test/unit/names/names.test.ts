import { describe, expect, test } from 'vitest';
import { ownFiles, readOwnFile } from '../structure/source-files.ts';
import { filesNamed, usesOf } from './find-names.ts';
import retired from './retired-names.json' with { type: 'json' };

/** These files list retired settings, which are rejected at start, or are generated. */
const exempt = new Set([
  'CHANGELOG.md',
  'config/retired-settings.ts',
  'package-lock.json',
  'test/unit/config/config-errors.test.ts',
  'test/unit/names/names.test.ts',
  'test/unit/names/retired-names.json',
  'test/unit/names/find-names.ts',
]);

const paths = ownFiles().filter((path) => !exempt.has(path));
const texts = paths.filter((path) => /\.(?:tsx?|mjs|sql|ya?ml|json|md|sh)$/.test(path));

describe('a retired name', () => {
  test('is used by no code, SQL, log event, metric or setting', () => {
    expect(texts.length).toBeGreaterThan(800);
    const files = texts.map((path) => ({ path, text: readOwnFile(path) }));
    expect([...usesOf(retired.identifiers, files)]).toEqual([]);
  });

  test('is the name of no file', () => {
    expect(filesNamed(retired.fileNames, paths)).toEqual([]);
  });
});

describe('the check of names', () => {
  const used = (path: string, text: string): string[] => [
    ...usesOf(['letGo', 'Care', 'takes_place', 'session_makes_way'], [{ path, text }]).keys(),
  ];

  test('finds a name in code, in SQL and in a log event', () => {
    expect(used('core/a.ts', 'class Care {}')).toEqual(['Care']);
    expect(used('core/a.ts', 'care.letGo();')).toEqual(['letGo']);
    expect(used('a.sql', 'select takes_place(run)')).toEqual(['takes_place']);
    expect(used('core/a.ts', "log.info('session_makes_way')")).toEqual(['session_makes_way']);
  });

  test('finds a compound name in prose, but not a word', () => {
    expect(used('core/a.ts', '// Care is taken before letGo is called.')).toEqual(['letGo']);
    expect(used('core/a.ts', "const text = 'Care is taken';")).toEqual([]);
    expect(used('core/a.ts', 'const text = `${new Care().x} Care`;')).toEqual(['Care']);
    expect(used('docs/a.md', 'Care is taken.')).toEqual([]);
  });

  test('leaves a longer name alone', () => {
    expect(used('core/a.ts', 'const Careful = letGoLater;')).toEqual([]);
  });

  test('finds a file by its name, and the test of such a file', () => {
    const found = filesNamed(
      ['care.ts'],
      ['worker/care.ts', 'test/unit/care.test.ts', 'a/scare.ts'],
    );
    expect(found).toEqual(['worker/care.ts', 'test/unit/care.test.ts']);
  });
});
