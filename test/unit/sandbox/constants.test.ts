import { expect, test } from 'vitest';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import { paths, timeouts } from '../../../sandbox/entry/constants.ts';

test('the entry program uses the paths of the service', () => {
  expect(paths).toMatchObject(sandboxPaths);
});

test('a sandbox survives two hours without its host', () => {
  expect(timeouts.deadlineMs).toBe(2 * 60 * 60 * 1_000);
});
