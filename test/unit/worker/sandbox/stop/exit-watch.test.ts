import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { ContainerState } from '../../../../../systems/docker/container/container-state.ts';
import { watchExit } from '../../../../../worker/sandbox/stop/exit-watch.ts';

const running: ContainerState = {
  status: 'running',
  exitCode: null,
  oomKilled: false,
  startError: null,
  startedAt: null,
  finishedAt: null,
};
const logger = pino({ enabled: false });

/** An engine that gives these answers, one a question, the last one again and again. */
function engineSaying(...answers: (ContainerState | Error)[]) {
  let asked = 0;
  const inspect = (): Promise<ContainerState> => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? running;
    asked += 1;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const watch = watchExit({ sandboxes: { inspect }, logger }, 'container-1');
  onTestFinished(watch.stop);
  return { watch, asked: () => asked };
}

test('an engine that is away, or does not answer, ends nothing', async () => {
  const away = new Error('connect ENOENT');
  const exited: ContainerState = { ...running, status: 'exited', exitCode: 3 };
  const { watch } = engineSaying(away, away, running, exited);
  expect(watch.exit()).toBeUndefined();
  expect(await watch.exited).toEqual({ kind: 'exited', exitCode: 3, oomKilled: false });
});

test('whether it still runs is the engine’s to say', async () => {
  const away = new Error('connect ENOENT');
  const exited: ContainerState = { ...running, status: 'exited', exitCode: 0 };
  const asks = (answer: ContainerState | Error) => engineSaying(answer).watch.isRunning();
  await expect(asks(away)).rejects.toThrow(away);
  expect(await asks(running)).toBe(true);
  expect(await asks({ ...running, status: 'paused' })).toBe(true);
  expect(await asks(exited)).toBe(false);
});

test('a container that the engine does not know is missing', async () => {
  const { watch } = engineSaying({ ...running, status: 'missing' });
  expect(await watch.exited).toEqual({ kind: 'missing' });
});

test('a hint makes it look sooner, and any number of hints not much more often', async () => {
  const { watch, asked } = engineSaying(running);
  const began = performance.now();
  while (asked() < 5) {
    watch.hint();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // By itself it takes 4 s for that; by a look for every hint it would take some 25 ms.
  const tookMs = performance.now() - began;
  expect(tookMs).toBeLessThan(3_500);
  expect(tookMs).toBeGreaterThan(300);
});
