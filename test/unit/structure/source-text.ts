/** The parts of a TypeScript file. Each keeps its line breaks, so offsets give line numbers. */
interface SourceText {
  /** Everything outside comments and string literals. */
  code: string;
  comments: Piece[];
  strings: Piece[];
}

export interface Piece {
  text: string;
  line: number;
}

const tokenPattern =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`|[{}]|(?<=(?:^|[=(,:;!&|?{}[+>]|\breturn|\bcase)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/gm;

/**
 * Splits a file into code, comments and strings. Parses just enough of the grammar for this
 * project.
 */
export function splitSource(text: string): SourceText {
  const result: SourceText = { code: '', comments: [], strings: [] };
  const lineAt = lineCounter(text);
  const braces: ('block' | 'template')[] = [];
  let position = 0;
  const readTemplate = (start: number): number => {
    const end = templateChunkEnd(text, start);
    result.strings.push({ text: text.slice(start, end), line: lineAt(start) });
    if (text[end] === '`') return end + 1;
    braces.push('template');
    return end + 2;
  };
  while (position < text.length) {
    tokenPattern.lastIndex = position;
    const match = tokenPattern.exec(text);
    result.code += text.slice(position, match?.index ?? text.length);
    if (match === null) break;
    const [token] = match;
    position = match.index + token.length;
    const piece = { text: token, line: lineAt(match.index) };
    if (token.startsWith('//') || token.startsWith('/*')) result.comments.push(piece);
    else if (token === '`') position = readTemplate(position);
    else if (token === '{') braces.push('block');
    else if (token === '}' && braces.pop() === 'template') position = readTemplate(position);
    else if (/^['"]/.test(token)) result.strings.push({ ...piece, text: token.slice(1, -1) });
    result.code += ' ';
  }
  return result;
}

/** The end of a template chunk: its closing backtick or the next `${`. */
function templateChunkEnd(text: string, start: number): number {
  const match = /(?:\\[\s\S]|(?!\$\{)[^`\\])*/y;
  match.lastIndex = start;
  return start + (match.exec(text)?.[0].length ?? 0);
}

function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let counted = 0;
  return (offset) => {
    for (; counted < offset; counted += 1) if (text[counted] === '\n') line += 1;
    return line;
  };
}
