// The patterns of the OpenAPI document say the same as the rules that requests are checked by.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inputFiles } from '../../../api/files/input-file-schema.ts';
import { decodeRunCursor, encodeRunCursor, runCursor } from '../../../api/runs/run-cursor.ts';
import {
  checkFilePath,
  checkInputPath,
  filePathPattern,
  inputPathPattern,
} from '../../../core/files/file-path.ts';
import { envNameError, envNamePattern } from '../../../core/runs/env-names.ts';

const numRuns = 5_000;

const paths = fc
  .array(
    fc.constantFrom('a', '.', '..', '/', '//', '\\', '\0', '.git', '.GIT', '\n', 'x'.repeat(255)),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((path) => path.length <= 512);

test.each([
  ['a file', filePathPattern, checkFilePath],
  ['an input file', inputPathPattern, checkInputPath],
] as const)('of the path of %s', (_name, pattern, check) => {
  const described = new RegExp(pattern, 'u');
  const isDescribed = (path: string) => {
    expect(described.test(path)).toBe(check(path).ok);
  };
  fc.assert(fc.property(paths, isDescribed), { numRuns });
});

test('of the name of a variable', () => {
  const described = new RegExp(envNamePattern, 'u');
  const part = fc.constantFrom('PATH', 'HOME', 'CLAUDE_', 'FLOW', '_', 'LD_', 'a', '1', '-', '\n');
  const names = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
  const isDescribed = (name: string) => {
    expect(described.test(name)).toBe(envNameError(name) === null);
  };
  fc.assert(fc.property(names, isDescribed), { numRuns });
});

test('of content in base64', () => {
  const { not } = inputFiles.element.meta() as {
    not: { properties: { content: { not: { pattern: string } } } };
  };
  const described = new RegExp(not.properties.content.not.pattern, 'u');
  const isDescribed = (text: string) => {
    expect(described.test(text)).toBe(Buffer.from(text, 'base64').toString('base64') === text);
  };
  const texts = fc.array(fc.constantFrom('A', 'b', 'Q', 'w', '=', '/', '-', '\n'), {
    maxLength: 9,
  });
  fc.assert(
    fc.property(
      texts.map((parts) => parts.join('')),
      isDescribed,
    ),
    { numRuns },
  );
});

test('a cursor of runs is accepted as it was sent', () => {
  const position = fc.record({
    createdAt: fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
    runId: fc.uuid(),
  });
  const returns = (last: { createdAt: Date; runId: string }) => {
    expect(decodeRunCursor(runCursor.parse(encodeRunCursor(last)))).toEqual(last);
  };
  fc.assert(fc.property(position, returns));
});
