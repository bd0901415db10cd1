import { expect, test } from 'vitest';
import { sandboxPaths } from '../../../core/sandbox/sandbox.ts';
import { paths, timeouts } from '../../../sandbox/entry/constants.ts';

test('the entry program and the service mean the same paths', () => {
  const { agent, workspace, spoolFile, stderrFile, socket, filesDir, configDir, proxyPort } =
    sandboxPaths;
  expect(paths).toEqual({
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
  expect(timeouts.deadlineMs).toBe(2 * 60 * 60 * 1_000);
});
