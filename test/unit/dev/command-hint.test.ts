import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { commandHint, startCommandHint } from '../../../dev/stack/command-hint.ts';

const names = ['DATA', 'API_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'].map((n) => `FLOWRUN_${n}`);
beforeEach(() => {
  for (const name of names) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('without settings, the command is unchanged', () => {
  expect(commandHint('npm run stop')).toBe('npm run stop');
  expect(startCommandHint('npm run demo')).toBe('npm run demo');
});

test('the folder is added to every command, and the ports only to those that start the stack', () => {
  vi.stubEnv('FLOWRUN_DATA', '/srv/flow');
  vi.stubEnv('FLOWRUN_API_PORT', '18080');
  vi.stubEnv('FLOWRUN_TEMPORAL_UI_PORT', '18233');
  expect(commandHint('npm run stop')).toBe('FLOWRUN_DATA=/srv/flow npm run stop');
  expect(startCommandHint('npm run demo')).toBe(
    'FLOWRUN_DATA=/srv/flow FLOWRUN_API_PORT=18080 FLOWRUN_TEMPORAL_UI_PORT=18233 npm run demo',
  );
});

test('a shell reads a quoted setting back unchanged', () => {
  const odd = "/srv/Ana's $HOME; x";
  vi.stubEnv('FLOWRUN_DATA', odd);
  const line = commandHint(`${process.execPath} -p process.env.FLOWRUN_DATA`);
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(`${odd}\n`);
});
