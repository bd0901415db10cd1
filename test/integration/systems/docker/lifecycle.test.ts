import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExitHint } from '../../../../systems/docker/container/watch-exits.ts';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createDockerFixture } from './support/docker-fixture.ts';
import { type ShellImage, shellImage } from './support/shell-image.ts';

const fixture = createDockerFixture();
const { sandboxes, engine } = fixture;
let image: ShellImage;

beforeAll(async () => {
  image = await shellImage(engine);
});
afterAll(async () => {
  await fixture.close();
  await image.remove();
});

const shell = (script: string) => ({ args: ['bash', '-c', script] });
const spec = () => fixture.spec({ image: image.name });
const statusOf = async (id: string) => (await sandboxes.inspect(id)).status;

test('thirty concurrent attempts create one container', async () => {
  const requested = spec();
  const made = await Promise.all(
    Array.from({ length: 30 }, () => sandboxes.ensureCreated(requested)),
  );
  expect(new Set(made.map((one) => one.containerId)).size).toBe(1);
  expect(made.filter((one) => !one.adopted)).toHaveLength(1);
  const listed = await sandboxes.list();
  expect(listed.filter((one) => one.runId === requested.runId)).toHaveLength(1);
});

test.each([
  ['another project', { projectId: 'project-2' }, 'frs.project'],
  ['another host', { hostId: 'host-2' }, 'frs.host'],
])('does not take over the container of %s', async (_whose, changes, label) => {
  const requested = spec();
  await sandboxes.ensureCreated(requested);
  await expect(sandboxes.ensureCreated({ ...requested, ...changes })).rejects.toMatchObject({
    code: 'foreign_container',
    message: expect.stringContaining(label),
  });
});

test('names the missing image', async () => {
  const requested = fixture.spec({ image: 'flowrun-no-such-image:1' });
  await expect(sandboxes.ensureCreated(requested)).rejects.toMatchObject({
    code: 'image_missing',
    message: expect.stringContaining('flowrun-no-such-image:1'),
  });
  await expect(engine.imageId('flowrun-no-such-image:1')).rejects.toMatchObject({
    code: 'image_missing',
  });
  expect(await engine.imageId(stackEnv.sandboxImage)).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('keeps the exit code and never restarts', async () => {
  const requested = spec();
  const run = await fixture.run(requested, shell('echo once; exit 41'));
  expect(await run.untilExited()).toMatchObject({ exitCode: 41, oomKilled: false });
  await sandboxes.start(run.containerId);
  expect(await sandboxes.inspect(run.containerId)).toMatchObject({
    status: 'exited',
    exitCode: 41,
  });
  expect(await sandboxes.ensureCreated(requested)).toMatchObject({ adopted: true });
  expect(run.out()).toBe('once\n');
  expect(run.host.exits).toEqual([{ code: 41, signal: null }]);
});

test('forwards SIGTERM to the agent and keeps its exit code', async () => {
  const run = await fixture.run(
    spec(),
    shell('trap "echo bye; exit 9" TERM; echo up; while :; do sleep 0.1; done'),
  );
  await run.untilOut('up');
  await sandboxes.start(run.containerId);
  await sandboxes.signal(run.containerId, 'SIGTERM');
  expect(await run.untilExited()).toMatchObject({ exitCode: 9 });
  expect(run.out()).toBe('up\nbye\n');
  await sandboxes.signal(run.containerId, 'SIGTERM');
});

test('SIGKILL ends an agent that ignores signals, even if paused', async () => {
  for (const paused of [false, true]) {
    const run = await fixture.run(
      spec(),
      shell('trap "" TERM; echo up; while :; do sleep 0.1; done'),
    );
    await run.untilOut('up');
    await sandboxes.signal(run.containerId, 'SIGTERM');
    if (paused) await sandboxes.pause(run.containerId);
    await sandboxes.signal(run.containerId, 'SIGKILL');
    expect(await run.untilExited()).toMatchObject({ exitCode: 137, oomKilled: false });
  }
});

test('pause and unpause are idempotent', async () => {
  const run = await fixture.run(spec(), shell('while :; do echo tick; sleep 0.05; done'));
  await run.untilOut('tick');
  await Promise.all([sandboxes.pause(run.containerId), sandboxes.pause(run.containerId)]);
  expect(await statusOf(run.containerId)).toBe('paused');
  const frozen = run.out();
  await sleep(300);
  expect(run.out()).toBe(frozen);
  await sandboxes.unpause(run.containerId);
  await sandboxes.unpause(run.containerId);
  await run.untilOut(`${frozen}tick`);
  await sandboxes.setCpus(run.containerId, 0.5);
  await expect.poll(() => statusOf(run.containerId)).toBe('running');
});

test('each pause of a quick series stops the container, and each unpause resumes it', async () => {
  const run = await fixture.run(spec(), shell('while :; do echo tick; sleep 0.01; done'));
  const { containerId } = run;
  await run.untilOut('tick');
  for (let n = 0; n < 20; n += 1) {
    // The engine handles the events of the first two calls during the next ones.
    for (const verb of ['pause', 'unpause', 'pause'] as const) await sandboxes[verb](containerId);
    const ticks = run.out().length;
    await sleep(50);
    expect(run.out().length).toBe(ticks);
    for (const verb of ['unpause', 'pause', 'unpause'] as const) await sandboxes[verb](containerId);
    await expect.poll(() => run.out().length, { interval: 5 }).toBeGreaterThan(ticks);
  }
});

test('pauses a slow container whose processes start others all the time', async () => {
  const starting = '(while :; do /bin/true; done) &';
  const run = await fixture.run(spec(), shell(`echo up; ${starting.repeat(8)} wait`));
  await run.untilOut('up');
  await sandboxes.setCpus(run.containerId, 0.2);
  for (let n = 0; n < 40; n += 1) {
    await sandboxes.pause(run.containerId);
    // An event of the unpause before may make the engine report it as running for a moment.
    await expect.poll(() => statusOf(run.containerId), { interval: 5 }).toBe('paused');
    await sandboxes.unpause(run.containerId);
  }
});

test('removes running and missing containers, ten at once', async () => {
  const run = await fixture.run(spec(), shell('sleep 60'));
  const { containerId } = run;
  await Promise.all(Array.from({ length: 10 }, () => sandboxes.remove(containerId)));
  await sandboxes.remove(containerId);
  expect(await sandboxes.inspect(containerId)).toMatchObject({ status: 'missing', exitCode: null });
  await sandboxes.signal(containerId, 'SIGKILL');
  await sandboxes.pause(containerId);
  await sandboxes.setCpus(containerId, 1);
  await expect(sandboxes.start(containerId)).rejects.toMatchObject({ code: 'container_missing' });
});

test('removes a paused container', async () => {
  const { containerId, untilOut } = await fixture.run(spec(), shell('echo up; sleep 60'));
  await untilOut('up');
  await sandboxes.pause(containerId);
  await sandboxes.remove(containerId);
  expect(await statusOf(containerId)).toBe('missing');
});

test('finds and lists the containers of its instance in any state', async () => {
  const other = openDocker({
    dockerHost: stackEnv.dockerHost,
    instance: `${engine.instance}x`,
  }).sandboxes;
  const mine = spec();
  const { containerId } = await sandboxes.ensureCreated(mine);
  const described = {
    containerId,
    runId: mine.runId,
    projectId: mine.projectId,
    hostId: mine.hostId,
    generation: 1,
    state: 'created',
  };
  expect(await other.list()).toEqual([]);
  expect(await sandboxes.list()).toContainEqual(described);
  const next = { ...mine, generation: 2 };
  await sandboxes.ensureCreated(next);
  await sandboxes.ensureCreated(spec());
  const generations = (await sandboxes.list(mine)).map(({ generation }) => generation);
  expect(generations.toSorted()).toEqual([1, 2]);
  expect(await sandboxes.find(mine)).toEqual(described);
  expect(await sandboxes.find(next)).toMatchObject({ generation: 2, state: 'created' });
  expect(await sandboxes.find({ ...mine, generation: 3 })).toBeNull();
  expect(await other.find(mine)).toBeNull();
});

test('does not find a container that has the name of a sandbox and not its labels', async () => {
  const { runId, generation } = spec();
  const name = `frs-${engine.instance}-${runId}-${generation}`;
  const container = await engine.docker.createContainer({ name, Image: image.name });
  expect(await sandboxes.find({ runId, generation })).toBeNull();
  await container.remove();
});

test('reports an exit', async () => {
  const hints: ExitHint[] = [];
  const watch = sandboxes.watchExits({
    onExit: (hint) => hints.push(hint),
    onReconnect: () => undefined,
  });
  const requested = spec();
  const run = await fixture.run(requested, shell('sleep 1'));
  await run.untilExited();
  const hint = { containerId: run.containerId, runId: requested.runId };
  await expect.poll(() => hints).toContainEqual(hint);
  watch.close();
});

test("exposes no configuration in the container's description", async () => {
  const secrets = ['canary-in-args', 'canary-in-env', 'canary-in-file'];
  const run = await fixture.run(spec(), {
    args: ['bash', '-c', 'cat ~/.frs/f; echo $TOKEN; sleep 60 # canary-in-args'],
    env: { TOKEN: 'canary-in-env' },
    files: [{ name: 'f', content: 'canary-in-file\n' }],
  });
  await run.untilOut('canary-in-env');
  expect(run.out()).toContain('canary-in-file');
  const container = engine.docker.getContainer(run.containerId);
  const { ResolvConfPath, ...described } = await container.inspect();
  const kept = readFileSync(join(ResolvConfPath, '../config.v2.json'), 'utf8');
  for (const secret of secrets) {
    expect(JSON.stringify(described)).not.toContain(secret);
    expect(kept).not.toContain(secret);
  }
});
