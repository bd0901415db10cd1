import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FileTreeNode, fileTree, fileTreeJson } from '../../../core/files/file-tree.ts';
import { limits } from '../../../core/limits.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

const treeOf = (...paths: string[]) => fileTree(paths.map((path) => ({ path })));

function all(nodes: FileTreeNode[]): FileTreeNode[] {
  return nodes.flatMap((node) => [node, ...all(node.children ?? [])]);
}

describe('the tree', () => {
  test('has a node for every file and every directory above it', () => {
    expect(treeOf('b.txt', 'a/c/d.txt', 'a/b.txt')).toEqual([
      {
        name: 'a',
        path: 'a',
        type: 'directory',
        children: [
          { name: 'b.txt', path: 'a/b.txt', type: 'file' },
          {
            name: 'c',
            path: 'a/c',
            type: 'directory',
            children: [{ name: 'd.txt', path: 'a/c/d.txt', type: 'file' }],
          },
        ],
      },
      { name: 'b.txt', path: 'b.txt', type: 'file' },
    ]);
    expect(treeOf()).toEqual([]);
  });

  test('omits .git and node_modules', () => {
    const shown = treeOf('.git/config', 'a/node_modules/x/y.js', 'a/b', '.gitignore');
    expect(all(shown).map((node) => node.path)).toEqual(['.gitignore', 'a', 'a/b']);
  });

  test('accepts names such as constructor', () => {
    const paths = ['__proto__/a', 'constructor', 'toString/b'];
    const files = all(treeOf(...paths)).filter((node) => node.type === 'file');
    expect(files.map((node) => node.path).sort()).toEqual(paths.sort());
  });

  test('does not depend on the order of the files', () => {
    const paths = fc.uniqueArray(fc.stringMatching(/^[a-c]{1,2}(\/[a-c]{1,2}){0,3}$/), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(paths, (some) => {
        expect(treeOf(...some)).toEqual(treeOf(...some.toReversed()));
      }),
    );
  });
});

describe('its limits', () => {
  test('5 000 nodes, nearest to the root first', () => {
    const deep = Array.from({ length: 6_000 }, (_, index) => `d/e/${index}`);
    const top = Array.from({ length: 100 }, (_, index) => `top-${index}`);
    const nodes = all(treeOf(...deep, ...top));
    expect(nodes).toHaveLength(limits.fileTree.maxNodes);
    expect(nodes.filter((node) => node.path.startsWith('top-'))).toHaveLength(100);
    expect(all(treeOf(...deep.slice(0, 4_998)))).toHaveLength(5_000);
  });

  test('1 MiB of JSON, in UTF-8', () => {
    const names = (length: number, nodes: number) =>
      Array.from({ length: nodes }, (_, index) => ({
        path: `${index}`.padStart(4, '0') + 'é'.repeat(length),
      }));
    const jsonBytes = (length: number) => 2 + 5_000 * (43 + 4 * length) + 4_999;
    const longest = Math.floor((limits.fileTree.maxBytes - jsonBytes(0)) / (5_000 * 4));
    const fitting = fileTreeJson(names(longest, 5_000));
    expect(Buffer.byteLength(fitting)).toBe(jsonBytes(longest));
    expect(JSON.parse(fitting)).toHaveLength(5_000);
    const halved = fileTreeJson(names(longest + 1, 5_000));
    expect(JSON.parse(halved)).toHaveLength(2_500);
    expect(fileTreeJson([{ path: 'x'.repeat(limits.fileTree.maxBytes) }])).toBe('[]');
  });

  test('20 levels', () => {
    const path = (levels: number) => new Array<string>(levels).fill('a').join('/');
    expect(all(treeOf(path(20)))).toHaveLength(20);
    expect(treeOf(path(21))).toEqual([]);
  });

  test('truncates 200 000 files within seconds', () => {
    const files = Array.from({ length: 200_000 }, (_, index) => ({
      path: `${index % 100}/${index}`,
    }));
    const { timeMs, result } = cpuTimeOf(() => fileTree(files));
    expect(all(result)).toHaveLength(limits.fileTree.maxNodes);
    expect(timeMs).toBeLessThan(5_000);
  });
});
