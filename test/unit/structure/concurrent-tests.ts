import { importGraph, reachableFrom } from './import-graph.ts';
import { splitSource } from './source-text.ts';

const concurrent = /\b(?:test|it|describe)\s*\.\s*concurrent\b|\bconcurrent:\s*true\b/;
const vitestImport = /^import\s*\{([^}]*)\}\s*from\s*'vitest';/gm;
/** Both belong to the test that has begun last, whichever test calls them. */
const globalHook = /\b(?:onTestFinished|onTestFailed)\b/;

/**
 * Files with concurrent tests that use a global hook, also through other files. Its clean-up would
 * run at the end of another test, so concurrent tests use the hooks of their context.
 */
export function sharedHooks(files: string[], read: (file: string) => string): string[] {
  const graph = importGraph(files, read);
  const importsHook = new Set(
    files.filter((file) =>
      [...read(file).matchAll(vitestImport)].some(([, names = '']) => globalHook.test(names)),
    ),
  );
  return files
    .filter((file) => concurrent.test(splitSource(read(file)).code))
    .flatMap((file) =>
      [file, ...reachableFrom(graph, file)]
        .filter((each) => importsHook.has(each))
        .map((each) => `${file}: ${each}`),
    );
}
