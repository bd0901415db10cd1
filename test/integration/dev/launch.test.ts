// With Node 20 and npm from the registry. test/unit/dev/launch.test.ts uses stand-ins.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLauncher } from '../../support/launcher.ts';

test('Node 20 fetches a newer one once, and runs the program and its children with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-launch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { launch } = createLauncher(folder, fetchOlderNode(folder));

  const first = await launch(['a b', 'c']);
  expect(first.err).toMatch(/^Fetching Node 24\.[\d.]+; this is 20\.[\d.]+\.\n$/);
  const { node = '' } = first.report;
  expect(node).toMatch(/^v24\./);
  expect(first).toMatchObject({ code: 0, report: { child: node, args: ['a b', 'c'] } });

  const second = await launch([], { PATH: '/nowhere' });
  expect(second).toMatchObject({ code: 0, err: '', report: { node, child: node } });
}, 180_000);

function fetchOlderNode(folder: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const target = ['--no-save', '--no-package-lock', '--prefix', folder, `${name}@20.20.2`];
  execFileSync('npm', ['install', ...target], { stdio: 'ignore' });
  return join(folder, 'node_modules', name, 'bin/node');
}
