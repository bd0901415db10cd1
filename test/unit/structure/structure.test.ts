import { describe, expect, test } from 'vitest';
import { sharedHooks } from './concurrent-tests.ts';
import { filesInCycles, importGraph, importsOf } from './import-graph.ts';
import { serverNeeds, serverTablePaths } from './server-needs.ts';
import { crowdedFolders, longFiles, sharedBaseNames } from './shape.ts';
import { isCode, ownFiles, productFiles, readOwnFile } from './source-files.ts';
import { unusedExports } from './unused-exports.ts';

/**
 * Temporal loads workflows by name, vitest its setup, and the users of the client import from its
 * index.
 */
const bundled = new Set([
  'client/index.ts',
  'dev/test-runner/before-all-tests.ts',
  'test/fixtures/changed-workflow/index.ts',
  'test/fixtures/counting-workflow/index.ts',
  'workflows/index.ts',
]);

describe('the source tree', () => {
  const code = ownFiles().filter(isCode);

  test('has no import cycle, type imports included', () => {
    expect(code.length).toBeGreaterThan(500);
    const graph = importGraph(code, readOwnFile);
    expect([...graph.values()].flat().length).toBeGreaterThan(1_000);
    expect(filesInCycles(graph)).toEqual([]);
  });

  test('has at most 20 files directly in a product folder', () => {
    expect(crowdedFolders(productFiles())).toEqual([]);
  });

  test('has unique base names within a package folder', () => {
    expect(sharedBaseNames(productFiles().filter(isCode))).toEqual([]);
  });

  test('exports nothing that no other file imports', () => {
    const unused = unusedExports(code, readOwnFile);
    expect(unused.filter((each) => !bundled.has(each.replace(/:.*/, '')))).toEqual([]);
  });

  test('has files of at most 250 lines, tests included', () => {
    const python = ownFiles().filter((file) => file.endsWith('.py'));
    expect(python.length).toBeGreaterThan(20);
    expect(longFiles([...code, ...python], readOwnFile)).toEqual([]);
  });

  test('has unit tests that start, build and download nothing', () => {
    expect(serverNeeds('test/unit', { files: code, read: readOwnFile })).toEqual([]);
  });

  test('has no concurrent test with a clean-up that may run at the end of another test', () => {
    const tests = code.filter((file) => file.startsWith('test/'));
    expect(sharedHooks(tests, readOwnFile)).toEqual([]);
  });

  test.each(serverTablePaths)('has %s, which the rule of unit tests names', (path) => {
    expect(ownFiles().some((file) => file === path || file.startsWith(`${path}/`))).toBe(true);
  });
});

describe('the checks of the source tree', () => {
  test('find a cycle through a type import', () => {
    const texts: Record<string, string> = {
      'a/one.ts': "import { two } from '../b/two.ts';\n",
      'b/two.ts': "import type {\n  Three,\n} from './three.ts';\n",
      'b/three.ts': "export type { One } from '../a/one.ts';\n",
      'b/four.ts': "import { two } from './two.ts';\nimport { z } from 'zod';\n",
    };
    const graph = importGraph(Object.keys(texts), (file) => texts[file] ?? '');
    expect(filesInCycles(graph)).toEqual(['a/one.ts', 'b/two.ts', 'b/three.ts']);
  });

  test('read every form of an import', () => {
    const text = "import './a.ts';\nexport * from './b.ts';\nconst c = await import('./c.ts');\n";
    expect(importsOf(text)).toEqual(['./a.ts', './b.ts', './c.ts']);
  });

  test('find a folder with 21 files, but not one with 20', () => {
    const files = (folder: string, count: number): string[] =>
      Array.from({ length: count }, (_, index) => `${folder}/${index}.ts`);
    expect(crowdedFolders([...files('core/a', 21), ...files('core/b', 20)])).toEqual(['core/a']);
  });

  test('find a base name that occurs twice in a package folder', () => {
    const files = ['api/runs/text.ts', 'api/http/text.ts', 'core/text.ts', 'api/main.ts'];
    const others = ['api/runs/main.ts', 'systems/redis/lease.ts', 'systems/postgres/lease.ts'];
    expect(sharedBaseNames([...files, ...others])).toEqual([
      'api/runs/text.ts',
      'api/http/text.ts',
    ]);
  });

  test('find an export that no file imports', () => {
    const texts: Record<string, string> = {
      'a/one.ts': 'export const used = 1;\nexport const unused = 2;\nexport type Used = 1;\n',
      'a/two.ts': "import { type Used, used as one } from './one.ts';\nexport function two() {}\n",
      'a/three.ts': "export const three = await import('./two.ts');\n",
      'a/four.ts': "import * as all from './three.ts';\n",
    };
    const unused = unusedExports(Object.keys(texts), (file) => texts[file] ?? '');
    expect(unused).toEqual(['a/one.ts: unused']);
  });

  test('find a unit test that reaches a server or calls a builder, but not one with a type', () => {
    const texts: Record<string, string> = {
      'test/support/stack-env.ts': '',
      'test/support/database.ts': "import { stackEnv } from './stack-env.ts';\n",
      'test/unit/a.test.ts': "import { database } from '../support/database.ts';\n",
      'test/unit/b.test.ts': "import type { Database } from '../support/database.ts';\n",
      'test/unit/c.test.ts': "execFileSync(\n  'go', ['build']);\nspawn('tar', ['-x']);\n",
      'test/integration/d.test.ts': "import { database } from '../support/database.ts';\n",
      'bench/scenarios/index.ts': "import { stackEnv } from '../../test/support/stack-env.ts';\n",
      'test/unit/e.test.ts': "import { scenarios } from '../../bench/scenarios/index.ts';\n",
    };
    const files = Object.keys(texts);
    expect(serverNeeds('test/unit', { files, read: (file) => texts[file] ?? '' })).toEqual([
      'test/unit/a.test.ts: test/support/stack-env.ts',
      'test/unit/c.test.ts: go',
    ]);
  });

  test('find a concurrent test with a global hook, but not one with its own or with none', () => {
    const global = "import { onTestFinished, test } from 'vitest';\n";
    const own = "import { test } from 'vitest';\n";
    const texts: Record<string, string> = {
      'test/a.test.ts': `${global}test.concurrent('a', () => onTestFinished(end));\n`,
      'test/b.test.ts': `${own}import './folder.ts';\ndescribe.concurrent('b', () => {});\n`,
      'test/c.test.ts': `${own}test.concurrent('c', ({ onTestFinished }) => {});\n`,
      'test/d.test.ts': `${global}test('is no test.concurrent', () => onTestFinished(end));\n`,
      'test/folder.ts': "import {\n  onTestFailed,\n} from 'vitest';\n",
    };
    expect(sharedHooks(Object.keys(texts), (file) => texts[file] ?? '')).toEqual([
      'test/a.test.ts: test/a.test.ts',
      'test/b.test.ts: test/folder.ts',
    ]);
  });

  test('find a file with too many lines', () => {
    const lines = (count: number): string => 'x\n'.repeat(count);
    const files = ['core/a.ts', 'test/a.test.ts'];
    expect(longFiles(files, () => lines(250))).toEqual([]);
    expect(longFiles(files, () => lines(251))).toEqual(files);
  });
});
