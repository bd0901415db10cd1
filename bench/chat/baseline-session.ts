// The lower limit of a turn: the same container as a session's, with a running agent that has
// already answered once. Messages are written directly into its input, and its spool is read
// directly. The service's own steps (request, Temporal, Postgres, Redis, stream) are missing.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OfflineModel } from '../../offline-model/server.ts';
import { createEngine } from '../../systems/docker/engine.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { messageLine } from '../../worker/sandbox/input/stdin-lines.ts';
import { prepareBare } from '../cold/bare-container.ts';
import { turnWords } from './turn-words.ts';

interface BaselineSession {
  /**
   * Sends one message and waits for the end of its turn. Returns the milliseconds to its first
   * text.
   */
  say(): Promise<number>;
  /** As `say`, but the container is paused before and resumed with the message. */
  sayPaused(): Promise<number>;
  close(): Promise<void>;
}

const settleMs = 300;
const lifetimeMs = 3_600_000;

export async function openBaselineSession(settings: {
  model: OfflineModel;
  dataDir: string;
}): Promise<BaselineSession> {
  const engine = createEngine({
    dockerHost: stackEnv.dockerHost,
    instance: `bare-${randomUUID().slice(0, 8)}`,
  });
  const first = turnWords(1);
  const options = { ...settings, image: stackEnv.sandboxImage, prompt: first.prompt };
  const bare = await prepareBare(engine, options, lifetimeMs);
  const { host, spool } = bare;
  const container = await bare.create();
  await container.start();
  await spool.untilLine(() => true);
  await bare.applyCpuLimit(container);
  await spool.untilLine(first.isResult);
  let turns = 1;

  async function say(resume: () => Promise<unknown>): Promise<number> {
    const turn = turnWords((turns += 1));
    const startedAt = performance.now();
    host.push(messageLine(randomUUID(), turn.prompt));
    await resume();
    const elapsedMs = (await spool.untilLine(turn.isText)) - startedAt;
    await spool.untilLine(turn.isResult);
    await sleep(settleMs);
    return elapsedMs;
  }

  return {
    say: () => say(() => Promise.resolve()),
    async sayPaused() {
      await container.pause();
      await sleep(settleMs);
      return say(() => container.unpause());
    },
    close: () => bare.remove(container),
  };
}
