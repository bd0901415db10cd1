import { Lexer } from 'marked';
import { expect, test } from 'vitest';
import { isCostly } from '../../../dashboard/transcript/is-costly.ts';

const answer = `## Done

I wrote **hello.md** and _nothing else_.

- [x] \`src/app.ts\`
  1. nested
     > quoted

| a | b |
|---|---|
| 1 | 2 |

${'- item\n'.repeat(500)}`;

test('an ordinary answer is shown as Markdown', () => {
  expect(isCostly(answer)).toBe(false);
  expect(Lexer.lex(answer).length).toBeGreaterThan(5);
});

test.each([
  ['emphasis', '*a_', 501],
  ['quotes', '>', 2_000],
  ['lists', '- ', 1_000],
  ['a long text', 'word ', 5_000],
])('%s beyond a limit is shown as it is', (_name, piece, count) => {
  expect(isCostly(piece.repeat(count))).toBe(true);
});

test('a limit applies to a paragraph', () => {
  expect(isCostly('**a** '.repeat(125))).toBe(false);
  expect(isCostly('**a** '.repeat(126))).toBe(true);
  expect(isCostly(`${'**a** '.repeat(100)}\n\n`.repeat(10))).toBe(false);
});
