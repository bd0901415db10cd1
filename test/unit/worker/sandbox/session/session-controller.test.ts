import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createKeyedMutex } from '../../../../../lib/async/keyed-mutex.ts';
import type { SessionState } from '../../../../../systems/postgres/sessions/save-state.ts';
import type { SandboxContext, SessionContext } from '../../../../../worker/sandbox/context.ts';
import type { SandboxDeps } from '../../../../../worker/sandbox/deps.ts';
import { createOwnership, type Ownership } from '../../../../../worker/sandbox/ownership.ts';
import { createPauseState } from '../../../../../worker/sandbox/pause-state.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import {
  createSessionController,
  type SessionController,
} from '../../../../../worker/sandbox/session/session-controller.ts';
import { createSessionTurnTracker } from '../../../../../worker/sandbox/session/session-turn-tracker.ts';
import { missingExit } from '../../../../../worker/sandbox/stop/exit-watch.ts';

const logger = pino({ enabled: false });
const ref = { runId: randomUUID(), generation: 1 };

/** Has only the members that a test uses. */
function sessionWith(
  deps: object,
  context: object,
  ownership: Ownership,
  chat: Partial<Pick<SessionContext, 'turns' | 'hasUnsavedTurn'>> = {},
): SessionController {
  const output = {
    tail: { finish: () => undefined, done: Promise.resolve(), quietSince: () => 0 },
    tree: { finish: async () => undefined },
  };
  const idle = { hasUnsavedTurn: false, turns: createSessionTurnTracker(null) };
  const session = {
    sessionId: 's',
    reader: { markInterrupted: () => undefined },
    ...idle,
    ...chat,
  };
  const sessionDeps = {
    session,
    output,
    gracefulStop: {},
    ownership,
    recorded: async () => undefined,
  };
  return createSessionController(
    deps as unknown as SandboxDeps,
    { pause: createPauseState(), ...context } as unknown as SandboxContext,
    sessionDeps as unknown as Parameters<typeof createSessionController>[2],
  );
}

test('the files of a session are stored after any other storing of the run, in their latest state', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'session-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const folders = foldersOf(dataDir, ref);
  await mkdir(folders.workspace, { recursive: true });
  const mutex = createKeyedMutex();
  const stored: string[][] = [];
  const saveState = async (_of: unknown, { workspace: { files } }: SessionState) => {
    stored.push(files.map(({ path }) => path));
    return 'recorded' as const;
  };
  const deps = {
    withFilesLock: mutex.runExclusive,
    now: () => new Date(),
    blobs: { has: async (contents: string[]) => new Set(contents) },
    runs: { recordSnapshot: async () => false },
    turns: {
      beginSave: async () => ({ at: new Date(), transcript: [] }),
      saveState,
      releaseSandbox: async () => true,
    },
    notifications: { subscribeBestEffort: () => () => undefined },
    frameStream: { notify: async () => true },
  };
  const context = {
    ...{ ref, folders, logger, containerId: null, exit: missingExit },
    turns: { last: () => null },
    lease: { token: 1, confirm: async () => true },
    socket: { denials: () => [], meter: { finish: async () => undefined } },
  };
  const controller = sessionWith(deps, context, createOwnership(logger));
  let endOther = (): void => undefined;
  const storing = mutex.runExclusive(ref.runId, () => new Promise<void>((end) => (endOther = end)));
  const saved = controller.awaitExitAndSave();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stored).toEqual([]);
  await writeFile(join(folders.workspace, 'late'), 'by the agent');
  endOther();
  await Promise.all([storing, saved]);
  expect(stored).toEqual([['late']]);
});

const idleAgent = { isHeld: true, isFenced: false, idleSince: (): number | null => 0 };

test.each([
  ['whose lease is held', idleAgent, ['pause']],
  ['before the first turn', { ...idleAgent, idleSince: () => null }, ['pause']],
  ['whose lease was lost', { ...idleAgent, isHeld: false }, []],
  ['whose host is fenced', { ...idleAgent, isFenced: true }, []],
  ['whose task has just ended', { ...idleAgent, idleSince: () => performance.now() }, []],
])('an idle sandbox %s is paused accordingly', async (_whose, agent, expectedCalls) => {
  const calls: string[] = [];
  const deps = {
    pauseAfterMs: 20,
    isFenced: () => agent.isFenced,
    notifications: { subscribeBestEffort: () => () => undefined },
    sandboxes: { pause: async () => void calls.push('pause') },
  };
  const context = {
    ...{ ref, logger, containerId: 'container-1' },
    turns: {
      agentState: () => ({ isInTurn: false, backgroundTasks: 0 }),
      idleSince: agent.idleSince,
    },
    lease: { token: 1, confirm: async () => agent.isHeld },
  };
  const ownership = createOwnership(logger);
  onTestFinished(ownership.finish);
  sessionWith(deps, context, ownership);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(calls).toEqual(expectedCalls);
});

test('the files of an adopted turn are stored when it ends, even if no call waits for it', async () => {
  const stored: string[] = [];
  const deps = {
    withFilesLock: async (runId: string) => void stored.push(runId),
    notifications: { subscribeBestEffort: () => () => undefined },
  };
  const context = { ref, logger, containerId: null, lease: { token: 1 } };
  const chat = createSessionTurnTracker({
    messageId: 'm-1',
    uuid: 'u-1',
    isAccepted: true,
    error: null,
  });
  sessionWith(deps, context, createOwnership(logger), { turns: chat });
  expect(stored).toEqual([]);
  chat.note({ turnEnd: { messageId: 'm-1', exitCode: 0, reply: null } });
  await expect.poll(() => stored).toEqual([ref.runId]);
});

test.each([
  [true, [ref.runId]],
  [false, []],
])('adopted with an unsaved turn: %s, its files are stored accordingly', async (unsaved, saved) => {
  const stored: string[] = [];
  const deps = {
    withFilesLock: async (runId: string) => void stored.push(runId),
    notifications: { subscribeBestEffort: () => () => undefined },
  };
  const context = { ref, logger, containerId: null, lease: { token: 1 } };
  const ownership = createOwnership(logger);
  sessionWith(deps, context, ownership, { hasUnsavedTurn: unsaved });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stored).toEqual(saved);
});

test.each([
  [
    'cuts off a turn at its limit, including the time under an earlier process',
    { runsForMs: 59_900, isWaiting: true, hasExited: false, errors: ['timed_out'] },
  ],
  [
    'leaves a turn alone although the host’s clock is ahead of its limit',
    { runsForMs: 0, isWaiting: true, hasExited: false, errors: [] },
  ],
  [
    'cuts off a turn of a silent agent',
    { runsForMs: 0, isWaiting: false, hasExited: false, errors: ['stalled'] },
  ],
  [
    'leaves a turn alone whose silent agent has exited',
    { runsForMs: 0, isWaiting: false, hasExited: true, errors: [] },
  ],
])('%s', async (_, { runsForMs, isWaiting, hasExited, errors }) => {
  const failed: unknown[] = [];
  const messageId = randomUUID();
  const claimed = { outcome: 'turn', messageId, text: 'Hello.', isAccepted: true };
  const deps = {
    now: () => new Date(Date.now() + 600_000),
    times: { stallTimeoutMs: 200 },
    newId: randomUUID,
    turns: {
      claim: async () => ({ ...claimed, announcedFrame: null, runsForMs, waitedMs: 0 }),
      failCurrentTurn: async (...of: unknown[]) => void failed.push(of),
    },
    notifications: { subscribeBestEffort: () => () => undefined },
  };
  const context = {
    ...{ ref, logger, containerId: null, lease: { token: 1 }, run: { timeoutSeconds: 60 } },
    turns: { isWaiting: () => isWaiting },
    exit: { isRunning: async () => !hasExited },
    socket: { meter: { beginTurn: () => undefined }, input: { interrupt: () => undefined } },
  };
  const ownership = createOwnership(logger);
  const turn = { messageId, uuid: 'u-1', isAccepted: true, error: null };
  const session = sessionWith(deps, context, ownership, { turns: createSessionTurnTracker(turn) });
  const running = session.runTurn([]);
  running.catch(() => undefined); // released below
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(failed).toEqual(errors.map((error) => [{ ...ref, token: 1 }, messageId, error]));
  ownership.release('the test is over');
  await expect(running).rejects.toThrow('over');
});

test('a turn ends with its sandbox, and stays open if its sandbox is released', async () => {
  const messageId = randomUUID();
  const claimed = {
    outcome: 'turn',
    messageId,
    text: 'Hello.',
    isAccepted: true,
    announcedFrame: null,
  };
  const deps = {
    now: () => new Date(),
    times: { stallTimeoutMs: 60_000 },
    turns: { claim: async () => ({ ...claimed, runsForMs: 0, waitedMs: 0 }) },
    notifications: { subscribeBestEffort: () => () => undefined },
    withFilesLock: async () => undefined,
  };
  const context = {
    ...{ ref, logger, containerId: null, lease: { token: 1 }, run: { timeoutSeconds: 60 } },
    socket: { meter: { beginTurn: () => undefined } },
    turns: { isWaiting: () => false },
  };
  const runTurn = (ownership: Ownership): Promise<unknown> => {
    const chat = createSessionTurnTracker({
      messageId,
      uuid: 'u-1',
      isAccepted: true,
      error: null,
    });
    return sessionWith(deps, context, ownership, { turns: chat }).runTurn([]);
  };
  const [ended, released] = [createOwnership(logger), createOwnership(logger)];
  const turns = Promise.allSettled([runTurn(ended), runTurn(released)]);
  ended.finish();
  released.release('another worker owns it');
  expect(await turns).toMatchObject([
    { status: 'fulfilled', value: { outcome: 'sandbox_ended' } },
    { status: 'rejected', reason: { message: 'another worker owns it' } },
  ]);
});
