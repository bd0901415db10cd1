import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readArguments } from '../../../bench/arguments.ts';
import { installPeer, peerFolder } from '../../../bench/peers/peer.ts';
import { scenarios } from '../../../bench/scenarios/index.ts';

const selected = (...args: string[]) =>
  readArguments(args, scenarios).scenarios.map(({ targets }) => targets[0]?.id);
const textTargets = ['openhands-text', 'agentapi-text', 'langgraph-text'];

test('peers are measured only if they are named, and their results are no whole run', () => {
  expect(selected()).not.toEqual(expect.arrayContaining(['openhands-text']));
  expect(selected()).toHaveLength(scenarios.length - textTargets.length);
  expect(selected('peers')).toEqual(textTargets);
  expect(selected('agentapi-accepted', 'T7')).toEqual(['T7', 'agentapi-text']);
  expect(readArguments(['peers'], scenarios).isWhole).toBe(false);
});

test('a peer that cannot be installed is named with the reason, and is tried again', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'peers-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  vi.stubEnv('FLOWRUN_CACHE', cache);
  onTestFinished(() => void vi.unstubAllEnvs());
  const install = vi.fn().mockRejectedValueOnce(new Error('no such version')).mockResolvedValue(0);
  const peer = { id: 'fast', name: 'Fast agent 1.2.3', install, program: vi.fn(), open: vi.fn() };

  expect(await installPeer(peer)).toBe(
    'Fast agent 1.2.3 is not measured, because it cannot be installed: Error: no such version',
  );
  expect(existsSync(peerFolder(peer))).toBe(false);
  for (let time = 0; time < 2; time += 1) expect(await installPeer(peer)).toBeUndefined();
  expect(readdirSync(cache)).toEqual(['peers-Fast-agent-1.2.3']);
  expect(install).toHaveBeenCalledTimes(2);
});
