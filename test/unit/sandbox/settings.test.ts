import { expect, test } from 'vitest';
import { sandboxPaths } from '../../../core/sandbox/sandbox.ts';
import { places, times } from '../../../sandbox/entry/constants.ts';

test('the entry program and the service mean the same places', () => {
  const { agent, workspace, spoolFile, stderrFile, socket, filesDir, configDir, proxyPort } =
    sandboxPaths;
  expect(places).toEqual({
    agent,
    workspace,
    spoolFile,
    stderrFile,
    socket,
    filesDir,
    configDir,
    proxyPort,
    home: '/home/agent',
  });
});

test('a sandbox lives on for two hours without its host', () => {
  expect(times.deadlineMs).toBe(2 * 60 * 60 * 1_000);
});
