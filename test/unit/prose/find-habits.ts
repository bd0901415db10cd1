import { isCode } from '../structure/source-files.ts';
import { type Piece, splitSource } from '../structure/source-text.ts';
import habits from './habits.json' with { type: 'json' };

interface Finding {
  line: number;
  text: string;
  advice: string;
}

/** A space between two words may be a line break with the marks of a comment. */
const gap = '\\s+(?:(?:\\*|//|--|#)\\s+)?';

const patterns = Object.entries(habits).map(([source, advice]) => ({
  pattern: new RegExp(`(?<![\\w-])(?:${source.replaceAll(' ', gap)})(?![\\w-])`, 'gi'),
  advice,
}));

/** The mechanical habits in a text, or in the comments and the messages of a source file. */
export function habitsIn(path: string, text: string): Finding[] {
  return proseOf(path, text).flatMap((piece) =>
    patterns.flatMap(({ pattern, advice }) =>
      [...piece.text.matchAll(pattern)].map(({ index, 0: found }) => {
        const line = piece.line + piece.text.slice(0, index).split('\n').length - 1;
        return { line, text: found, advice };
      }),
    ),
  );
}

function proseOf(path: string, text: string): Piece[] {
  if (path.endsWith('.md')) return [{ text: withoutCode(text), line: 1 }];
  if (!isCode(path)) return [{ text, line: 1 }];
  const { comments, strings } = splitSource(text);
  return [...comments, ...strings.filter((string) => string.text.includes(' '))];
}

const maxColumns = 100;

/** Lines of prose that are too long. Tables, headings, code, and lines with a link are exempt. */
export function longLinesIn(text: string): number[] {
  const lines = withoutCode(text).split('\n');
  return lines.flatMap((line, index) => {
    const isExempt = /^\s*[|#<]|\]\(|https?:/.test(line);
    return line.length > maxColumns && !isExempt ? [index + 1] : [];
  });
}

const maxSentencesInCell = 2;

/** Rows of tables with a cell of too many sentences. Code between backticks has none. */
export function longCellsIn(text: string): number[] {
  const lines = withoutCode(text)
    .replace(/`[^`\n]*`/g, 'X')
    .split('\n');
  return lines.flatMap((line, index) => {
    if (!line.startsWith('|')) return [];
    const isLong = line.split('|').some((cell) => sentencesIn(cell) > maxSentencesInCell);
    return isLong ? [index + 1] : [];
  });
}

const sentencesIn = (cell: string): number => cell.match(/[.!?](?=\s+[A-Z[]|\s*$)/g)?.length ?? 0;

/** Lines of comments that are too long. A comment behind code is exempt, and a line with a link. */
export function longCommentLinesIn(text: string): number[] {
  return text.split('\n').flatMap((line, index) => {
    const isComment = /^\s*(?:\/\/|\/?\*|--|#) /.test(line.replace('/**', '/*'));
    return isComment && line.length > maxColumns && !/https?:/.test(line) ? [index + 1] : [];
  });
}

/** Blanks code blocks, and keeps the line breaks. Code within a line counts for its length. */
function withoutCode(text: string): string {
  return text.replace(/^( *)(```+)[\s\S]*?^\1\2/gm, (block) => block.replace(/[^\n]/g, ''));
}
