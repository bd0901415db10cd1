import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { expect, test } from 'vitest';
import { initialAgentState } from '../../../../core/agent/agent-state.ts';
import type { PreparedSandbox } from '../../../../worker/sandbox/context.ts';
import type { SandboxDeps } from '../../../../worker/sandbox/deps.ts';
import { createTurnTracker } from '../../../../worker/sandbox/input/turn-tracker.ts';
import { foldersOf } from '../../../../worker/sandbox/sandbox-paths.ts';
import { superviseSandbox } from '../../../../worker/sandbox/supervised-sandbox.ts';

const logger = pino({ enabled: false });
const ref = { runId: randomUUID(), generation: 1 };

/** A plain run's sandbox that keeps running and writes nothing. */
function quietSandbox(lost: AbortSignal) {
  const closed: string[] = [];
  const released: string[] = [];
  const folders = foldersOf('/nonexistent', ref);
  const agentState = initialAgentState;
  const deps = {
    sandboxes: { inspect: async () => ({ status: 'running' }) },
    frameStream: { publishFileTree: async () => true },
    startLimiter: { release: (key: string) => released.push(key) },
    times: { stallTimeoutMs: 60_000, afterResultGraceMs: 60_000 },
  };
  const prepared = {
    ...{ ref, folders, lost, logger, containerId: 'c', session: null },
    run: { partialMessages: false },
    socket: {
      meter: { exceeded: new Promise(() => undefined) },
      close: async () => void closed.push('socket'),
      onExitHint: () => undefined,
    },
    lease: {
      token: 1,
      position: { byteOffset: 0, lastSeq: 0, agentState },
      release: () => void closed.push('lease'),
      onOverQuota: () => undefined,
    },
    spool: {
      path: folders.spoolFile,
      read: async () => 0,
      size: async () => 0,
      tampering: async () => null,
      close: async () => void closed.push('spool'),
    },
    turns: createTurnTracker({ agentState, hasSpoken: false }),
    answers: { deny: () => undefined },
  };
  // the only members that a quiet sandbox uses
  const sandbox = superviseSandbox(
    deps as unknown as SandboxDeps,
    prepared as unknown as PreparedSandbox,
    async () => [],
  );
  return { sandbox, closed, released };
}

test('releases a sandbox whose lease is lost, and closes what was opened', async () => {
  const lost = new AbortController();
  const { sandbox, closed, released } = quietSandbox(lost.signal);
  expect(sandbox.isLive()).toBe(true);
  expect(released).toEqual([]);
  lost.abort();
  await expect(sandbox.ended).rejects.toThrow('the lease is lost');
  expect(sandbox.isReleased()).toBe(true);
  expect(closed).toEqual(['lease', 'socket', 'spool']);
  expect(released).toEqual([`${ref.runId}-1`]);
});

test('releases a sandbox whose lease was lost during its start', async () => {
  const { sandbox, closed, released } = quietSandbox(AbortSignal.abort());
  expect(sandbox.isLive()).toBe(false);
  await expect(sandbox.ended).rejects.toThrow('the lease is lost');
  expect(closed).toEqual(['lease', 'socket', 'spool']);
  expect(released).toEqual([`${ref.runId}-1`]);
});
