import { beforeAll, describe, expect, test } from 'vitest';
import { lintControls, listControls } from './lint-controls.ts';

const found = new Map<string, string[]>();

beforeAll(() => {
  for (const { path, code } of lintControls()) found.set(path, [...(found.get(path) ?? []), code]);
});

describe('the linter', () => {
  const controls = listControls();

  test.each(controls)('reports $breaks in $path', ({ path, breaks }) => {
    expect(found.get(path) ?? []).toEqual(breaks);
  });

  test('has a control for each rule it enforces', () => {
    const rules = new Set(controls.flatMap(({ breaks }) => breaks));
    expect([...rules].sort()).toEqual([
      'eslint(max-params)',
      'eslint(no-console)',
      'flowrun(boundaries)',
      'flowrun(no-module-state)',
      'import(no-default-export)',
      'node(no-process-env)',
      'typescript(await-thenable)',
      'typescript(ban-ts-comment)',
      'typescript(no-floating-promises)',
      'typescript(no-misused-promises)',
      'typescript(no-non-null-assertion)',
      'typescript(no-unsafe-assignment)',
      'typescript(only-throw-error)',
      'typescript(switch-exhaustiveness-check)',
    ]);
  });
});
