import { expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { sandboxPaths } from '../../core/sandbox.ts';
import { places, times } from '../../sandbox/entry/settings.ts';

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

test('the entry program and the service mean the same deadline', () => {
  expect(times.deadlineMs).toBe(limits.sandboxDeadlineMs);
});
