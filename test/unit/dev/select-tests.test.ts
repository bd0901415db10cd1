import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { needsStack, selectTests } from '../../../dev/test-runner/select-tests.ts';

const here = 'test/unit/dev/select-tests.test.ts';

test.each([
  [[], [], undefined],
  [['--bail=1'], [], undefined],
  [['-t', 'unit/dev/select'], [], undefined],
  [['unit/dev/select'], [here], undefined],
  [[join(repository, here)], [here], undefined],
  [[`./${here}:9`, '-t', 'x'], [here], undefined],
  [['--project', 'gvisor'], [], 'gvisor'],
  [['--project=stack', 'unit/dev/select'], [here], 'stack'],
])('npm test -- %j selects %j of the project %s', (args, files, project) => {
  expect(selectTests(args)).toEqual({ files, project });
});

test('a filter that matches no file is an error', () => {
  expect(() => selectTests(['unit/dev/select', 'nonsense'])).toThrow(
    "No test file's path contains nonsense.",
  );
});

test.each([
  [['unit/dev/select'], false],
  [['--project', 'unit'], false],
  [['--project', 'stack'], true],
  [['test/system'], true],
  [['unit/dev/select', 'test/integration/systems'], true],
])('npm test -- %j needs a stack: %s', (args, expected) => {
  expect(needsStack(selectTests(args))).toBe(expected);
});
