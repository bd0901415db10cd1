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

/** An engine that returns these answers in order, and then repeats the last one. */
function watchWithAnswers(...answers: (ContainerState | Error)[]) {
  let checks = 0;
  const inspect = (): Promise<ContainerState> => {
    const answer = answers[Math.min(checks, answers.length - 1)] ?? running;
    checks += 1;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const watch = watchExit({ sandboxes: { inspect }, logger }, 'container-1');
  onTestFinished(watch.stop);
  return { watch, checks: () => checks };
}

test('an unavailable or silent engine does not count as an exit', async () => {
  const unavailable = new Error('connect ENOENT');
  const exited: ContainerState = { ...running, status: 'exited', exitCode: 3 };
  const { watch } = watchWithAnswers(unavailable, unavailable, running, exited);
  expect(watch.exit()).toBeUndefined();
  expect(await watch.exited).toEqual({ kind: 'exited', exitCode: 3, oomKilled: false });
});

test('isRunning returns the state that the engine reports', async () => {
  const unavailable = new Error('connect ENOENT');
  const exited: ContainerState = { ...running, status: 'exited', exitCode: 0 };
  const isRunning = (answer: ContainerState | Error) => watchWithAnswers(answer).watch.isRunning();
  await expect(isRunning(unavailable)).rejects.toThrow(unavailable);
  expect(await isRunning(running)).toBe(true);
  expect(await isRunning({ ...running, status: 'paused' })).toBe(true);
  expect(await isRunning(exited)).toBe(false);
});

test('a container that is unknown to the engine is missing', async () => {
  const { watch } = watchWithAnswers({ ...running, status: 'missing' });
  expect(await watch.exited).toEqual({ kind: 'missing' });
});

test('a hint triggers an early check, but many hints do not trigger many', async () => {
  const { watch, checks } = watchWithAnswers(running);
  const startedAt = performance.now();
  while (checks() < 5) {
    watch.hint();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // Without hints this takes 4 s. With a check for every hint it would take about 25 ms.
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeLessThan(3_500);
  expect(tookMs).toBeGreaterThan(300);
});
