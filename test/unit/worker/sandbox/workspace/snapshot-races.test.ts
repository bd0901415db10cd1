// A working directory belongs to its agent. However it changes during a snapshot, the snapshot must
// never read outside it.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openFile } from '../../../../../worker/sandbox/workspace/walk.ts';
import { collectSnapshot } from './collect-snapshot.ts';
import { makeWorkspace } from './workspace-folder.ts';

let base: string;
let root: string;
let put: ReturnType<typeof makeWorkspace>['put'];
beforeEach(() => {
  ({ base, root, put } = makeWorkspace());
});

test('of files that change during the snapshot the previous versions remain', async () => {
  put('gone', 'g');
  put('changed', 'before');
  put('twice/a', 'same');
  put('twice/b', 'same');
  put('stays');
  const { snapshot, entries, contents, omitted } = await collectSnapshot(root, {
    onLookup: (sha256s) => {
      if (sha256s.length < 4) return;
      rmSync(join(root, 'gone'));
      put('changed', 'after!');
      rmSync(join(root, 'twice/a'));
    },
  });
  expect(entries.map(({ path }) => path).sort()).toEqual(['stays', 'twice/a', 'twice/b']);
  expect(entries.every((entry) => contents.has(entry.sha256))).toBe(true);
  expect(snapshot.changed).toEqual(['changed']);
  expect(omitted.skipped).toEqual([{ path: 'changed', reason: 'changed while it was stored' }]);
});

test('a thread that constantly swaps files for symlinks gets no content from outside', async () => {
  const outside = join(base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'secret');
  put('a/file', 'inside');
  const attacker = new Worker(
    `const { renameSync, symlinkSync } = require('node:fs');
     const { root, outside } = require('node:worker_threads').workerData;
     symlinkSync(outside, root + '/evil');
     for (;;) {
       try { renameSync(root + '/a', root + '/good'); } catch {}
       try { renameSync(root + '/evil', root + '/a'); } catch {}
       try { renameSync(root + '/a', root + '/evil'); } catch {}
       try { renameSync(root + '/good', root + '/a'); } catch {}
     }`,
    { eval: true, workerData: { root, outside } },
  );
  onTestFinished(async () => void (await attacker.terminate()));
  const seen = { inside: 0, nothing: 0 };
  for (let reads = 0; reads < 2_000; reads += 1) {
    const file = await openFile(root, 'a/file');
    if (file === null) {
      seen.nothing += 1;
      continue;
    }
    const content = await file.readFile('utf8');
    await file.close();
    expect(content).toBe('inside');
    seen.inside += 1;
  }
  expect(seen.inside).toBeGreaterThan(0);
  expect(seen.nothing).toBeGreaterThan(0);
}, 120_000);
