import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { isObject, type JsonObject } from '../../core/json.ts';

/** A problem in a flow file, with its position. */
export interface FileProblem {
  file: string;
  line: number;
  /** The path of the field, such as `limits.maxTurns`. Null: the file as a whole. */
  field: string | null;
  message: string;
}

export interface FrontMatter {
  fields: JsonObject;
  body: string;
  /**
   * The line of the field or of the nearest one that contains it. An item of a list is named by its
   * text or index.
   */
  lineOf(path: readonly string[]): number;
}

type Parsed = { value: FrontMatter } | { problem: Omit<FileProblem, 'file'> };

/** Null if the text does not begin with front matter. */
export function parseFrontMatter(text: string): Parsed | null {
  const lines = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  if (!/^---[ \t]*\n/.test(lines)) return null;
  const parts = /^---[ \t]*\n(.*?\n)??---[ \t]*(?:\n(.*))?$/s.exec(lines);
  if (parts === null)
    return { problem: { line: 1, field: null, message: 'the front matter is not closed by ---' } };
  const [, yaml = '', body = ''] = parts;
  const counter = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: counter });
  /** The first line is the opening ---. */
  const lineAt = (offset: number): number => counter.linePos(offset).line + 1;
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const message = (fault.message.split('\n')[0] ?? '').replace(/ at line \d+.*$/, '');
    return { problem: { line: lineAt(fault.pos[0]), field: null, message } };
  }
  const fields: unknown = document.toJS() ?? {};
  if (!isObject(fields))
    return { problem: { line: 2, field: null, message: 'the front matter must have fields' } };
  const lineOf = (path: readonly string[]): number => lineIn(document.contents, path, lineAt);
  return { value: { fields, body, lineOf } };
}

function lineIn(
  root: Node | null,
  path: readonly string[],
  lineAt: (offset: number) => number,
): number {
  let node: unknown = root;
  let line = 1;
  for (const step of path) {
    if (isAlias(node)) return line;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(key) === step);
      line = startOf(pair?.key, lineAt) ?? line;
      node = pair?.value;
    } else if (isSeq(node)) {
      node =
        node.items.find((item) => isScalar(item) && item.value === step) ??
        node.items[Number(step)];
      line = startOf(node, lineAt) ?? line;
    } else return line;
  }
  return line;
}

function startOf(node: unknown, lineAt: (offset: number) => number): number | null {
  const range = (node as Partial<Node> | null | undefined)?.range;
  return range ? lineAt(range[0]) : null;
}

/**
 * The instructions that a body contains: editors add blank lines around it. Null if there are none.
 */
export function textOfBody(body: string): string | null {
  const lines = body.replaceAll(/\r\n?/g, '\n');
  const text = lines.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  return text === '' ? null : text;
}
