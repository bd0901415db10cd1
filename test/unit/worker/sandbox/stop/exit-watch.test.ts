import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { ContainerState } from '../../../../../systems/docker/container/container-state.ts';
import { createPauseState } from '../../../../../worker/sandbox/pause-state.ts';
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
  const pause = createPauseState();
  const watch = watchExit(
    { sandboxes: { inspect }, logger },
    { containerId: 'container-1', pause },
  );
  onTestFinished(watch.stop);
  return { watch, pause, checks: () => checks };
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

test('a paused container is inspected after the pause began, then not for a while, and after the pause', async () => {
  const { pause, checks } = watchWithAnswers({ ...running, status: 'paused' });
  pause.markPaused();
  const atPause = checks();
  const since = () => checks() - atPause;
  await expect.poll(since, patiently).toBeGreaterThan(0);
  await sleep(2_500);
  expect(since()).toBe(1);
  pause.markRunning();
  await expect.poll(since, patiently).toBeGreaterThan(2);
});

test('an exit during a pause is found as soon as it is reported', async () => {
  const paused: ContainerState = { ...running, status: 'paused' };
  const exited: ContainerState = { ...running, status: 'exited', exitCode: 137 };
  const { watch, pause, checks } = watchWithAnswers(paused, paused, exited);
  pause.markPaused();
  await expect.poll(checks, patiently).toBe(2);
  await sleep(1_500);
  expect(watch.exit()).toBeUndefined();
  watch.hint();
  expect(await watch.exited).toMatchObject({ exitCode: 137 });
});

test('a pause is not trusted while the engine is unavailable', async () => {
  const exited: ContainerState = { ...running, status: 'exited', exitCode: 0 };
  const { watch, pause } = watchWithAnswers(running, new Error('connect ENOENT'), exited);
  pause.markPaused();
  expect(await watch.exited).toMatchObject({ exitCode: 0 });
});

const patiently = { timeout: 30_000 };
