import { expect, test } from 'vitest';
import { patchSessionConfig } from '../../../api/sessions/patch-session-config.ts';
import { emptyRunConfig } from '../../../core/runs/run-config.ts';

const current = { ...emptyRunConfig, env: { A: '1', B: '2' } };

test('a change is merged into the current configuration, and the result is validated as a whole', () => {
  expect(patchSessionConfig(current, { env: { A: '3', B: null } }).env).toEqual({ A: '3' });
  expect(patchSessionConfig(current, { env: null }).env).toEqual({});
  const server = { type: 'http', url: 'https://a.test/${A}' };
  const patched = patchSessionConfig(current, { mcpServers: { docs: server } });
  expect(patched.mcpServers).toEqual({ docs: server });
  expect(() => patchSessionConfig(patched, { env: { A: null } })).toThrow(
    'body.mcpServers.docs.url',
  );
});

test('an error names each invalid field and truncates long names', () => {
  const patch = () =>
    patchSessionConfig(current, { env: { ['A'.repeat(100_000)]: 'x', PATH: '' } });
  expect(patch).toThrow(/^body\.env\.A{100}…: the name must be at most .*; body\.env\.PATH: /);
});
