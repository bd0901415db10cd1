import { tmpdir } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchProcess } from '../../support/process-changes.ts';

test('a test file that changes its process is reported', () => {
  const folder = process.cwd();
  const changes = watchProcess();
  expect(changes()).toEqual([]);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.useRealTimers();
    process.chdir(folder);
    process.exitCode = undefined;
  });
  vi.stubEnv('PATH', undefined);
  vi.stubEnv('FLOWRUN_TEST', 'x');
  vi.useFakeTimers();
  process.chdir(tmpdir());
  process.exitCode = 3;
  const expected = ['PATH', 'FLOWRUN_TEST', 'working directory', 'exit code', 'fake timers'];
  expect(changes()).toEqual(expected);
});
