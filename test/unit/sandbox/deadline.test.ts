import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type EntryWorld, entryWorld } from './support/entry-fixture.ts';

let world: EntryWorld;
afterEach(() => world.close());

const timeouts = { deadlineMs: 1_500, finalProbeMs: 800, killGraceMs: 600, keepAliveMs: 200 };

/** Starts the agent, then disconnects the host. */
async function lonelyAgent(mode: string, finalProbeMs = timeouts.finalProbeMs) {
  const own = { ...timeouts, finalProbeMs };
  world = await entryWorld({ config: { args: [mode] }, timeouts: own, pollMs: 20 });
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('up');
  await world.host.untilAsked('/control/messages');
  const leftAt = performance.now();
  await world.host.down();
  return { entry, elapsed: () => performance.now() - leftAt };
}

test('ends the agent after the deadline and two failed probes', async () => {
  const { entry, elapsed } = await lonelyAgent('echo');
  expect(await entry.ended).toBe(124);
  expect(elapsed()).toBeGreaterThan(timeouts.deadlineMs + 2 * timeouts.finalProbeMs - 200);
  expect(elapsed()).toBeLessThan(timeouts.deadlineMs + 2 * timeouts.finalProbeMs + 20_000);
  expect(world.errors()).toContain('the host is lost');
});

test('kills an agent that ignores the deadline', async () => {
  const { entry, elapsed } = await lonelyAgent('deaf');
  expect(await entry.ended).toBe(124);
  expect(elapsed()).toBeGreaterThan(
    timeouts.deadlineMs + 2 * timeouts.finalProbeMs + timeouts.killGraceMs - 200,
  );
  await world.untilSaid('heard');
  const { up } = await world.untilSaid('up');
  await expect.poll(() => isAlive(Number(up))).toBe(false);
});

test('survives when the host responds to the last probe', async () => {
  // Long enough for a busy machine to reconnect in time.
  const finalProbeMs = 4_000;
  const { entry } = await lonelyAgent('echo', finalProbeMs);
  await sleep(timeouts.deadlineMs + finalProbeMs + 200);
  await world.host.up();
  await sleep(finalProbeMs);
  world.host.closeInput();
  expect(await entry.ended).toBe(0);
});

test('renews the deadline with every response, even after the input was closed', async () => {
  world = await entryWorld({ config: { args: ['deaf'] }, timeouts });
  world.host.closeInput();
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('end');
  await sleep(2 * timeouts.deadlineMs);
  expect(world.errors()).toBe('');
  entry.terminate('SIGKILL');
  expect(await entry.ended).toBe(137);
});

test('ends a sandbox whose host never responds', async () => {
  world = await entryWorld({ timeouts });
  expect(await world.start().ended).toBe(124);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
}
