import { posix } from 'node:path';
import { splitSource } from '../structure/source-text.ts';

interface NamedFile {
  path: string;
  text: string;
}

/** A single word like `Care` may occur in prose; a compound like `letGo` may not. */
const isCompound = (name: string): boolean => /_|[a-z0-9][A-Z]/.test(name);

/** Which of the names each file uses. */
export function usesOf(names: string[], files: NamedFile[]): Map<string, string[]> {
  const retired = new Set(names);
  const uses = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of namesIn(path, text)) {
      if (retired.has(name)) uses.set(name, [...(uses.get(name) ?? []), path]);
    }
  }
  return uses;
}

function namesIn(path: string, text: string): Set<string> {
  const identifiersIn = (part: string): string[] => part.match(/[A-Za-z_$][\w$]*/g) ?? [];
  const compounds = identifiersIn(text).filter(isCompound);
  if (!/\.(?:tsx?|mjs)$/.test(path)) return new Set(compounds);
  return new Set([...compounds, ...identifiersIn(splitSource(text).code)]);
}

/** Files with one of the names. Suffixes such as `.test` do not count. */
export function filesNamed(fileNames: string[], paths: string[]): string[] {
  const retired = new Set(fileNames);
  return paths.filter((path) => {
    const name = posix.basename(path);
    return retired.has(name) || retired.has(name.replace(/\.(?:test|fault|compose|soak)\./, '.'));
  });
}
