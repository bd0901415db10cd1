import { pageOf } from './pages.ts';

interface CodeBlock {
  language: string;
  code: string;
}

/** The code blocks of a page, in their order. A block in a list has the indentation of its item. */
export function codeBlocksOf(path: string): CodeBlock[] {
  const found = pageOf(path).matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms);
  return Array.from(found, ([, indent = '', language = '', code = '']) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** One code block of a page: the first of its language, or another by its number from 0. */
export function codeBlockOf(path: string, language: string, number = 0): string {
  const block = codeBlocksOf(path).filter((each) => each.language === language)[number];
  if (block === undefined) throw new Error(`${path} has no block ${number} of ${language}`);
  return block.code;
}

/** Replaces what a reader has to replace. Throws if the text does not have it. */
export function fillIn(text: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((filled, [placeholder, value]) => {
    if (!filled.includes(placeholder)) throw new Error(`no ${placeholder} in: ${filled}`);
    return filled.replaceAll(placeholder, value);
  }, text);
}

/** The commands of a shell block. A command can have several lines. */
export const commandsIn = (block: string): string[] =>
  block
    .replaceAll(/\\\n */g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
