// What is promised of sandboxes is promised on gVisor, too: the same tests once more, where the engine
// has it (`npm run setup:gvisor`).

import { describe, expect, test, vi } from 'vitest';
import { createEngine } from '../../../systems/docker/engine.ts';
import { stackEnv } from '../../support/stack-env.ts';

const { dockerHost } = stackEnv;
const { runtimes } = await createEngine({ dockerHost, instance: 'gvisor' }).facts();
const isThere = runtimes.includes('runsc');

if (isThere) {
  vi.stubEnv('TEST_SANDBOX_RUNTIME', 'runsc');
  describe('lifecycle', async () => void (await import('./lifecycle.test.ts')));
  describe('profile', async () => void (await import('./profile.test.ts')));
  describe('bounds', async () => void (await import('./bounds.test.ts')));
  describe('entry', async () => void (await import('./entry.test.ts')));
  describe('escape', async () => void (await import('./escape.test.ts')));
  describe('real agent', async () => void (await import('./real-agent.test.ts')));
}

test.skipIf(!isThere)('these tests were about gVisor', () => {
  expect(stackEnv.sandboxRuntime).toBe('runsc');
});
