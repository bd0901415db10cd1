import { posix } from 'node:path';
import { splitSource } from './source-text.ts';

const declared =
  /^export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+(\w+)/gm;
const listed = /^export\s+(?:type\s+)?\{([^}]*)\}\s*;/gm;
const imported =
  /(?:^|\n)\s*(?:import|export)\b(?:\s+type)?\s*(?:\w+\s*,\s*)?([^;'"]*?)\bfrom\s*'([^']+)'/g;
const wholeModule = /\b(?:import|importActual)(?:<[^(]*>)?\(\s*'([^']+)'/g;

/** Names that a file exports and that no other file imports, as `file: name`. */
export function unusedExports(files: string[], read: (file: string) => string): string[] {
  const used = new Set<string>();
  for (const file of files) for (const use of usesIn(file, read(file))) used.add(use);
  return files
    .filter((file) => !used.has(`${file}: *`))
    .flatMap((file) => exportsOf(read(file)).map((name) => `${file}: ${name}`))
    .filter((each) => !used.has(each));
}

function exportsOf(text: string): string[] {
  const { code } = splitSource(text);
  const lists = [...code.matchAll(listed)].flatMap(([, list = '']) => list.split(','));
  const renamed = lists.map((each) => each.trim().split(/\s+/).at(-1) ?? '');
  return [...[...code.matchAll(declared)].map(([, name = '']) => name), ...renamed].filter(Boolean);
}

function usesIn(file: string, text: string): string[] {
  const target = (specifier: string): string => posix.join(posix.dirname(file), specifier);
  const named = [...text.matchAll(imported)].flatMap(([, clause = '', specifier = '']) =>
    namesIn(clause).map((name) => `${target(specifier)}: ${name}`),
  );
  const whole = [...text.matchAll(wholeModule)].map(([, path = '']) => `${target(path)}: *`);
  return [...named, ...whole];
}

/** `{ a, type B, c as d }` names a, B and c; `* as all` and `*` name everything. */
function namesIn(clause: string): string[] {
  if (clause.includes('*')) return ['*'];
  const list = clause.replace(/[{}]/g, '').split(',');
  return list
    .map(
      (each) =>
        each
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+/)[0] ?? '',
    )
    .filter(Boolean);
}
