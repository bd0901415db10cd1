import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { FileEntry } from '../../../../../core/files/file-entry.ts';
import { createKeyedMutex } from '../../../../../lib/async/keyed-mutex.ts';
import type { SandboxContext } from '../../../../../worker/sandbox/context.ts';
import type { SandboxDeps } from '../../../../../worker/sandbox/deps.ts';
import { createOwnership, type Ownership } from '../../../../../worker/sandbox/ownership.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import {
  createSessionController,
  type SessionController,
} from '../../../../../worker/sandbox/session/session-controller.ts';
import { createSessionTurnTracker } from '../../../../../worker/sandbox/session/session-turn-tracker.ts';
import { missingExit } from '../../../../../worker/sandbox/stop/exit-watch.ts';

const logger = pino({ enabled: false });
const ref = { runId: randomUUID(), generation: 1 };

/** With as much of what a sandbox has as a test comes to use. */
function sessionWith(
  deps: object,
  context: object,
  ownership: Ownership,
  chat = createSessionTurnTracker(null),
): SessionController {
  const output = {
    tail: { finish: () => undefined, done: Promise.resolve(), quietSince: () => null },
    tree: { finish: async () => undefined },
  };
  const session = { sessionId: 's', turns: chat, reader: {} };
  const around = { session, output, gracefulStop: {}, ownership, recorded: async () => undefined };
  return createSessionController(
    deps as unknown as SandboxDeps,
    context as unknown as SandboxContext,
    around as unknown as Parameters<typeof createSessionController>[2],
  );
}

test('what a session leaves is stored after whatever else stores its files, and looked at then', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'session-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const folders = foldersOf(dataDir, ref);
  await mkdir(folders.workspace, { recursive: true });
  const turnstile = createKeyedMutex();
  const stored: string[][] = [];
  const replace = async (_of: unknown, entries: FileEntry[]) =>
    stored.push(entries.map(({ path }) => path)) > 0;
  const deps = {
    storing: turnstile.runExclusive,
    now: () => new Date(),
    blobs: { has: async (contents: string[]) => new Set(contents) },
    files: { replaceSnapshot: replace },
    runs: { recordSnapshot: async () => undefined },
    turns: {
      clock: async () => new Date(),
      markSnapshot: async () => undefined,
      releaseSandbox: async () => true,
    },
    notifications: { subscribeBestEffort: () => () => undefined },
    frameStream: { notify: async () => true },
  };
  const context = {
    ...{ ref, folders, logger, containerId: null, exit: missingExit },
    turns: { last: () => null },
    lease: { token: 1, confirm: async () => true },
    socket: { denials: () => [] },
  };
  const hands = sessionWith(deps, context, createOwnership(logger));
  let others = (): void => undefined;
  const storing = turnstile.runExclusive(
    ref.runId,
    () => new Promise<void>((end) => (others = end)),
  );
  const seen = hands.awaitExitAndSave();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stored).toEqual([]);
  await writeFile(join(folders.workspace, 'late'), 'by the agent');
  others();
  await Promise.all([storing, seen]);
  expect(stored).toEqual([['late']]);
});

test.each([
  ['is this process’s own', true, ['pause']],
  ['another looks after by now', false, []],
])('a sandbox at rest that %s is paused accordingly', async (_whose, isOurs, engineTold) => {
  const told: string[] = [];
  const deps = {
    pauseAfterMs: 20,
    notifications: { subscribeBestEffort: () => () => undefined },
    sandboxes: { pause: async () => void told.push('pause') },
  };
  const context = {
    ...{ ref, logger, containerId: 'container-1' },
    turns: { agentState: () => ({ isInTurn: false, backgroundTasks: 0 }) },
    lease: { token: 1, confirm: async () => isOurs },
  };
  const ownership = createOwnership(logger);
  onTestFinished(ownership.finish);
  sessionWith(deps, context, ownership);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(told).toEqual(engineTold);
});

test('what a turn leaves that was found in its middle is stored when it ends, whoever waits for it', async () => {
  const stored: string[] = [];
  const deps = {
    storing: async (runId: string) => void stored.push(runId),
    notifications: { subscribeBestEffort: () => () => undefined },
  };
  const context = { ref, logger, containerId: null, lease: { token: 1 } };
  const chat = createSessionTurnTracker({
    messageId: 'm-1',
    uuid: 'u-1',
    isAccepted: true,
    error: null,
  });
  sessionWith(deps, context, createOwnership(logger), chat);
  expect(stored).toEqual([]);
  const nothingSaid = { reply: null, usage: null, costUsd: null };
  chat.note({ turnEnd: { messageId: 'm-1', exitCode: 0, ...nothingSaid } });
  await expect.poll(() => stored).toEqual([ref.runId]);
});

test('a turn is over with its sandbox, and goes on where its sandbox was let go of', async () => {
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
    turns: { claim: async () => ({ ...claimed, startedAt: new Date(), waitedMs: 0 }) },
    notifications: { subscribeBestEffort: () => () => undefined },
    storing: async () => undefined,
  };
  const context = {
    ...{ ref, logger, containerId: null, lease: { token: 1 }, run: { timeoutSeconds: 60 } },
    turns: { isWaiting: () => false },
  };
  const begin = (ownership: Ownership): Promise<unknown> => {
    const chat = createSessionTurnTracker({
      messageId,
      uuid: 'u-1',
      isAccepted: true,
      error: null,
    });
    return sessionWith(deps, context, ownership, chat).runTurn(async () => []);
  };
  const [ended, released] = [createOwnership(logger), createOwnership(logger)];
  const turns = Promise.allSettled([begin(ended), begin(released)]);
  ended.finish();
  released.release('another looks after it');
  expect(await turns).toMatchObject([
    { status: 'fulfilled', value: { outcome: 'sandbox_ended' } },
    { status: 'rejected', reason: { message: 'another looks after it' } },
  ]);
});
