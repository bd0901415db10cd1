import { describe, expect, test } from 'vitest';
import { ownFiles, readOwnFile } from '../structure/source-files.ts';
import { habitsIn, longLinesIn } from './find-habits.ts';
import stillFound from './still-found.json' with { type: 'json' };

/** Scripts of agents and models are data, and the fixtures of this check must show the habits. */
const exempt = /^(?:CHANGELOG\.md|test\/unit\/prose\/|test\/fixtures\/|offline-model\/scripts\/)/;

const pages = ownFiles().filter((path) => path.endsWith('.md') && !exempt.test(path));
const sources = ownFiles().filter((path) => path.endsWith('.ts') && !exempt.test(path));

/** How many a file may still have. A number must never be raised. */
const allowed: Readonly<Record<string, number>> = stillFound;

describe('the prose of pages, comments and messages', () => {
  test('has none of the mechanical habits', () => {
    expect(pages.length).toBeGreaterThan(5);
    expect(sources.length).toBeGreaterThan(500);
    const tooMany = [...pages, ...sources].flatMap((path) => {
      const found = habitsIn(path, readOwnFile(path));
      if (found.length <= (allowed[path] ?? 0)) return [];
      return found.map(({ line, text, advice }) => `${path}:${line} "${text}": ${advice}`);
    });
    expect(tooMany).toEqual([]);
  });

  test('has lines of at most 100 columns', () => {
    const tooLong = pages.flatMap((path) => {
      const lines = longLinesIn(readOwnFile(path));
      return lines.length <= (allowed[`${path} lines`] ?? 0)
        ? []
        : [`${path}: ${lines.join(', ')}`];
    });
    expect(tooLong).toEqual([]);
  });
});

describe('the check of prose', () => {
  const textsIn = (path: string, text: string): string[] =>
    habitsIn(path, text).map((finding) => finding.text);

  test.each([
    'Whoever asks is answered.',
    'The session goes on.',
    'The host is told of it.',
    'The worker starts it anew.',
    'The page stands in docs/.',
    'It mends the rest.',
    'The run restarts by itself.',
    'It waits for ever.',
    'A file of its own.',
  ])('finds a habit in "%s"', (sentence) => {
    expect(textsIn('docs/a.md', sentence)).toHaveLength(1);
    expect(textsIn('core/a.ts', `// ${sentence}\n`)).toHaveLength(1);
    expect(textsIn('core/a.ts', `const text = "${sentence}";\n`)).toHaveLength(1);
    expect(textsIn('core/a.ts', `const text = \`\${a}: ${sentence}\`;\n`)).toHaveLength(1);
  });

  test('finds a phrase over a line break, and reports its line', () => {
    const text = 'const a = 1;\n/**\n * The session goes\n * on.\n */\n';
    expect(habitsIn('core/a.ts', text)).toMatchObject([{ line: 3 }]);
  });

  test('finds nothing in code, in identifiers and in plain sentences', () => {
    const code = "const anew = by(itself, 'anew');\nconst pattern = /goes on/;\n";
    expect(textsIn('core/a.ts', code)).toEqual([]);
    expect(textsIn('docs/a.md', '```\nwhoever\n```\n')).toEqual([]);
    expect(textsIn('docs/a.md', 'SSE stands for server-sent events.')).toEqual([]);
  });

  test('finds a long line of prose, but no long table row, link or code', () => {
    const long = 'word '.repeat(21);
    expect(longLinesIn(`${long}\nshort\n`)).toEqual([1]);
    const exemptLines = [`| ${long} |`, `[a](b) ${long}`, '```', long, '```'];
    expect(longLinesIn(exemptLines.join('\n'))).toEqual([]);
  });
});
