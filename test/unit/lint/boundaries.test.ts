import { beforeAll, describe, expect, test } from 'vitest';
import { lintControls, listControls } from './control-tree.ts';

const controls = listControls();
const found = new Map<string, string[]>();

beforeAll(() => {
  for (const { path, code } of lintControls()) found.set(path, [...(found.get(path) ?? []), code]);
});

/** Each rule once: one line may break it twice. */
function rulesBrokenBy(path: string): string[] {
  return [...new Set(found.get(path) ?? [])];
}

describe('the linter', () => {
  const broken = controls.filter(({ breaks }) => breaks !== 'nothing');

  test.each(broken)('finds $breaks in $path and nothing else', ({ path, breaks }) => {
    expect(rulesBrokenBy(path)).toEqual([breaks]);
  });

  const allowed = controls.filter(({ breaks }) => breaks === 'nothing');

  test.each(allowed)('finds nothing in $path', ({ path }) => {
    expect(rulesBrokenBy(path)).toEqual([]);
  });

  test('has a control for every boundary of the house', () => {
    const folders = new Set(broken.map(({ path }) => path.split('/')[0]));
    expect([...folders].sort()).toEqual(
      [
        'activities',
        'api',
        'cli',
        'config',
        'core',
        'sandbox',
        'systems',
        'worker',
        'workflows',
      ].sort(),
    );
  });
});
