// The limit of a turn: the very container that a session has, its agent running and spoken to before. A
// message is written straight into its input, and the answer read from its spool as it comes. What the
// service does around it (the request, Temporal, Postgres, Redis, the stream) is missing here.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OfflineModel } from '../../offline-model/server.ts';
import { createEngine } from '../../systems/docker/engine.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { messageLine } from '../../worker/sandbox/input/stdin-lines.ts';
import { prepareBare } from '../cold/bare-container.ts';
import { turnWords } from './turn-words.ts';

interface BaselineSession {
  /** One message to the end of its turn; milliseconds from its input to its first text. */
  say(): Promise<number>;
  /** The same of a container that is paused: it is woken up with the message. */
  sayPaused(): Promise<number>;
  close(): Promise<void>;
}

const settleMs = 300;
const livesForMs = 3_600_000;

export async function openBaselineSession(given: {
  model: OfflineModel;
  dataDir: string;
}): Promise<BaselineSession> {
  const engine = createEngine({
    dockerHost: stackEnv.dockerHost,
    instance: `bare-${randomUUID().slice(0, 8)}`,
  });
  const first = turnWords(1);
  const options = { ...given, image: stackEnv.sandboxImage, prompt: first.prompt };
  const bare = await prepareBare(engine, options, livesForMs);
  const { host, spool } = bare;
  const container = await bare.create();
  await container.start();
  await spool.untilLine(() => true);
  await bare.applyCpuLimit(container);
  await spool.untilLine(first.isResult);
  let turns = 1;

  async function say(wake: () => Promise<unknown>): Promise<number> {
    const words = turnWords((turns += 1));
    const begun = performance.now();
    host.push(messageLine(randomUUID(), words.prompt));
    await wake();
    const took = (await spool.untilLine(words.isText)) - begun;
    await spool.untilLine(words.isResult);
    await sleep(settleMs);
    return took;
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
