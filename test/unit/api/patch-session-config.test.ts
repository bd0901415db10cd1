import { expect, test } from 'vitest';
import { patchSessionConfig } from '../../../api/sessions/patch-session-config.ts';
import { emptyRunConfig } from '../../../core/runs/run-config.ts';

const known = { ...emptyRunConfig, env: { A: '1', B: '2' } };

test('a change is merged into what is known, and judged as a whole', () => {
  expect(patchSessionConfig(known, { env: { A: '3', B: null } }).env).toEqual({ A: '3' });
  expect(patchSessionConfig(known, { env: null }).env).toEqual({});
  const server = { type: 'http', url: 'https://a.test/${A}' };
  const served = patchSessionConfig(known, { mcpServers: { docs: server } });
  expect(served.mcpServers).toEqual({ docs: server });
  expect(() => patchSessionConfig(served, { env: { A: null } })).toThrow(
    'body.mcpServers.docs.url',
  );
});

test('a refusal names what is wrong, and never repeats more than a bit of it', () => {
  const refused = () =>
    patchSessionConfig(known, { env: { ['A'.repeat(100_000)]: 'x', PATH: '' } });
  expect(refused).toThrow(/^body\.env\.A{100}…: the name must be at most .*; body\.env\.PATH: /);
});
