import { describe, expect, test } from 'vitest';
import { ownFiles, readOwnFile } from '../structure/source-files.ts';
import { habitsIn, longCellsIn, longCommentLinesIn, longLinesIn } from './find-habits.ts';

/** Scripts of agents and models are data, and the fixtures of this check must show the habits. */
const exempt =
  /^(?:test\/unit\/prose\/|test\/fixtures\/(?!scripted-agent\/)|offline-model\/scripts\/)/;

const texts = ownFiles().filter((path) => !exempt.test(path));
const pages = texts.filter((path) => path.endsWith('.md'));
const sources = texts.filter((path) =>
  /\.(?:ts|mjs|py|sql|ya?ml|sh)$|^(?:Dockerfile|flowrun)$/.test(path),
);

/** The rules of language quote these words. */
const quoted: Readonly<Record<string, string[]>> = { 'CONTRIBUTING.md': ['whoever', 'nobody'] };

describe('the prose of pages, comments and messages', () => {
  test('has none of the mechanical habits', () => {
    expect(pages.length).toBeGreaterThan(5);
    expect(sources.length).toBeGreaterThan(500);
    const found = [...pages, ...sources].flatMap((path) =>
      habitsIn(path, readOwnFile(path))
        .filter(({ text }) => quoted[path]?.includes(text) !== true)
        .map(({ line, text, advice }) => `${path}:${line} "${text}": ${advice}`),
    );
    expect(found).toEqual([]);
  });

  test('has lines of at most 100 columns', () => {
    const tooLong = [...pages, ...sources].flatMap((path) => {
      const find = path.endsWith('.md') ? longLinesIn : longCommentLinesIn;
      const lines = find(readOwnFile(path));
      return lines.length === 0 ? [] : [`${path}: ${lines.join(', ')}`];
    });
    expect(tooLong).toEqual([]);
  });

  test('has at most two sentences in the cell of a table', () => {
    const found = pages.map((path) => [path, longCellsIn(readOwnFile(path))] as const);
    expect(found.filter(([, rows]) => rows.length > 0)).toEqual([]);
  });
});

describe('the check of prose', () => {
  const textsIn = (path: string, text: string): string[] =>
    habitsIn(path, text).map((finding) => finding.text);

  test.each([
    'Whoever asks is answered.',
    'It retries until he answers.',
    'The page is shown to everybody.',
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

  test('finds a habit in the comments of SQL, compose files and scripts', () => {
    expect(textsIn('a/b.sql', '-- The session goes\n-- on.\n')).toEqual(['goes\n-- on']);
    expect(textsIn('a.yml', 'a: 1\n# Whoever asks\n# is answered.\n')).toEqual(['Whoever']);
    expect(textsIn('a/b.sh', '# The host is\n# told of it.\n')).toEqual(['is\n# told']);
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

  test('finds a cell of three sentences, but none of two, and no prose', () => {
    const row = (cell: string): string => `| a | ${cell} |\n`;
    expect(longCellsIn(`Text.\n${row('One. Two. Three.')}`)).toEqual([2]);
    expect(longCellsIn(row('One. `a. B. C.` e.g. two [X](a.md).'))).toEqual([]);
    expect(longCellsIn('One. Two. Three.\n')).toEqual([]);
  });

  test('finds a long line of a comment, but no code and no comment behind it', () => {
    const long = 'word '.repeat(20);
    for (const comment of [
      `// ${long}`,
      `/** ${long} */`,
      ` * ${long}`,
      `-- ${long}`,
      `  # ${long}`,
    ])
      expect(longCommentLinesIn(`const a = 1;\n${comment}\n`)).toEqual([2]);
    for (const line of [`f('${long}');`, `f(); // ${long}`, `// https://a ${long}`, '// word'])
      expect(longCommentLinesIn(`${line}\n`)).toEqual([]);
  });
});
