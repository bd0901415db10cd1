import { limits } from '../limits.ts';
import { utf8Bytes } from '../utf8-bytes.ts';

export interface FileTreeNode {
  name: string;
  path: string;
  type: 'file' | 'directory';
  children?: FileTreeNode[];
}

/**
 * The tree of a working directory, from the paths of its files. If there are too many, files near
 * the root take precedence. The order of the input does not matter.
 */
export function fileTree(
  files: Iterable<{ path: string }>,
  maxNodes: number = limits.fileTree.maxNodes,
): FileTreeNode[] {
  const top: Directory = { children: new Map() };
  const left = { nodes: maxNodes };
  for (const segments of [...files].map(segmentsOf).filter(isShown).sort(byDepthThenName)) {
    if (!insert(top, segments, left)) break;
  }
  return nodesOf(top, '');
}

/** The tree as JSON text. If it is too long, it has fewer nodes. */
export function fileTreeJson(files: { path: string }[]): string {
  for (let maxNodes: number = limits.fileTree.maxNodes; ; maxNodes = Math.floor(maxNodes / 2)) {
    const json = JSON.stringify(fileTree(files, maxNodes));
    if (utf8Bytes(json) <= limits.fileTree.maxBytes) return json;
  }
}

/** Large directories of no interest to a reader. */
const hiddenNames = new Set(['.git', 'node_modules']);

/** A directory has children, a file has none. */
interface Directory {
  children: Map<string, Directory | null>;
}

function segmentsOf({ path }: { path: string }): string[] {
  return path.split('/');
}

function isShown(segments: string[]): boolean {
  return (
    segments.length <= limits.fileTree.maxDepth && !segments.some((name) => hiddenNames.has(name))
  );
}

function byDepthThenName(a: string[], b: string[]): number {
  return a.length - b.length || compare(a.join('/'), b.join('/'));
}

/** Adds a file and the directories above it; false once the tree is full. */
function insert(top: Directory, segments: string[], left: { nodes: number }): boolean {
  let directory = top;
  for (const [depth, name] of segments.entries()) {
    const known = directory.children.get(name);
    if (known === undefined) {
      if (left.nodes === 0) return false;
      left.nodes -= 1;
    }
    const isFile = depth === segments.length - 1;
    const next = known ?? (isFile ? null : { children: new Map<string, Directory | null>() });
    if (known === undefined) directory.children.set(name, next);
    if (next === null) return true;
    directory = next;
  }
  return true;
}

function nodesOf(directory: Directory, prefix: string): FileTreeNode[] {
  const entries = [...directory.children].sort(([a], [b]) => compare(a, b));
  return entries.map(([name, child]) => {
    const path = `${prefix}${name}`;
    if (child === null) return { name, path, type: 'file' };
    return { name, path, type: 'directory', children: nodesOf(child, `${path}/`) };
  });
}

/** By code unit, independent of the locale. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
