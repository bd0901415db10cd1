// Runs the cases of the alert rules with Prometheus' own evaluation.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../../support/stack-env.ts';

const rulesFolder = join(repository, 'ops/prometheus');
const rules = readFileSync(join(rulesFolder, 'alerts.yml'), 'utf8');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  copyFileSync(join(rulesFolder, 'alerts.test.yml'), join(folder, 'alerts.test.yml'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('each alert fires beyond its threshold after its time, and neither at it nor earlier', async () => {
  expect(await failures(rules)).toBe('');
});

test.each([
  ['FlowrunRunQueueStuck', 'wait_seconds) > 300', 'wait_seconds) > 301'],
  ['FlowrunRunQueueStuck', 'wait_seconds) > 300', 'wait_seconds) >= 300'],
  ['FlowrunHostStale', 'for: 5m', 'for: 4m'],
  ['FlowrunHostStale', 'for: 5m', 'for: 6m'],
])('a changed %s fails its cases: %s becomes %s', async (alert, before, after) => {
  const start = rules.indexOf(`- alert: ${alert}\n`);
  const changed = rules.slice(0, start) + rules.slice(start).replace(before, after);
  expect(changed).not.toBe(rules);
  expect(await failures(changed)).toContain(`alertname: ${alert}`);
});

/** What the cases say about these rules; empty if they hold. */
async function failures(text: string): Promise<string> {
  writeFileSync(join(folder, 'alerts.yml'), text);
  const args = ['test', 'rules', join(folder, 'alerts.test.yml')];
  try {
    await promisify(execFile)(stackEnv.promtool, args);
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }; // documented by execFile
    return stdout + stderr;
  }
}
