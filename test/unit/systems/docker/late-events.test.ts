// The engine is a stand-in whose answers are those of an engine that has events still to handle.

import { expect, onTestFinished, test } from 'vitest';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import { startFakeEngine } from '../../../support/fake-engine.ts';

const done = { status: 204 };
const isPaused = { status: 409, message: 'Container id is already paused' };
const isNotPaused = { status: 500, message: 'Container id is not paused' };

/** Its answers to pauses and unpauses, in their order, and the state that follows each of them. */
async function startEngine(answers: [answer: object, state: 'paused' | 'running'][]) {
  const asked: string[] = [];
  let state: string | undefined;
  const engine = await startFakeEngine(({ path }) => {
    const verb = /\/containers\/id\/(pause|unpause)/.exec(path)?.[1];
    if (verb === undefined) return { Id: 'id', State: { Status: state, Error: '' } };
    asked.push(verb);
    const [answer = done, next] = answers[asked.length - 1] ?? [];
    state = next;
    return answer;
  });
  onTestFinished(() => engine.close());
  const { sandboxes } = openDocker({ dockerHost: engine.dockerHost, instance: 'test' });
  return { sandboxes, asked };
}

test('a container that is paused already, or runs already, is left as it is', async () => {
  const { sandboxes, asked } = await startEngine([
    [isPaused, 'paused'],
    [isNotPaused, 'running'],
  ]);
  await sandboxes.pause('id');
  await sandboxes.unpause('id');
  expect(asked).toEqual(['pause', 'unpause']);
});

test('a pause that was rejected as unnecessary is repeated if the container runs', async () => {
  const { sandboxes, asked } = await startEngine([
    [isPaused, 'running'],
    [done, 'paused'],
  ]);
  await sandboxes.pause('id');
  expect(asked).toEqual(['pause', 'pause']);
});

test('a state that contradicts the last success is not believed at once', async () => {
  const { sandboxes, asked } = await startEngine([
    [done, 'paused'],
    [isNotPaused, 'running'],
    [done, 'running'],
    [isPaused, 'paused'],
    [done, 'paused'],
  ]);
  await sandboxes.pause('id');
  await sandboxes.unpause('id');
  await sandboxes.pause('id');
  expect(asked).toEqual(['pause', 'unpause', 'unpause', 'pause', 'pause']);
});

test('a state that stays is believed, as another process may have caused it', async () => {
  const always = Array.from({ length: 1_000 }, (): [object, 'running'] => [isNotPaused, 'running']);
  const { sandboxes, asked } = await startEngine([[done, 'paused'], ...always]);
  await sandboxes.pause('id');
  await sandboxes.unpause('id');
  expect(asked.length).toBeGreaterThan(2);
});

test('any other rejection fails if the container is not in the wanted state', async () => {
  const broken = { status: 500, message: 'cannot pause container id' };
  const { sandboxes, asked } = await startEngine([[broken, 'running']]);
  await expect(sandboxes.pause('id')).rejects.toMatchObject({ code: 'rejected' });
  expect(asked).toEqual(['pause']);
});
