import { posix } from 'node:path';

/** Maps each file to the files that it imports, type imports included. */
type ImportGraph = ReadonlyMap<string, readonly string[]>;

const importPattern =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g;

export function importsOf(text: string): string[] {
  return [...text.matchAll(importPattern)].map(([, from, bare]) => from ?? bare ?? '');
}

export function importGraph(files: string[], read: (file: string) => string): ImportGraph {
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const relative = importsOf(read(file)).filter((specifier) => specifier.startsWith('.'));
      const targets = relative.map((specifier) => posix.join(posix.dirname(file), specifier));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
}

/** Import cycles, each as the list of its files. */
export function filesInCycles(graph: ImportGraph): string[] {
  return [...graph.keys()].filter((file) => reachableFrom(graph, file).has(file));
}

export function reachableFrom(graph: ImportGraph, start: string): Set<string> {
  const reached = new Set<string>();
  const queue = [...(graph.get(start) ?? [])];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    queue.push(...(graph.get(file) ?? []));
  }
  return reached;
}
