import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createEntryFixture, type EntryFixture } from './support/entry-fixture.ts';

let fixture: EntryFixture;
afterEach(() => fixture.close());

const timeouts = { deadlineMs: 800, finalProbeMs: 400, killGraceMs: 300, keepAliveMs: 200 };

/** The earliest end after a host's last response, which may be lost when the host disconnects. */
const lostAfterMs = timeouts.deadlineMs + 2 * timeouts.finalProbeMs - 100;

/** Starts the agent, then disconnects the host. */
async function agentWithoutHost(mode: string, changed: Partial<typeof timeouts> = {}) {
  const own = { ...timeouts, ...changed };
  fixture = await createEntryFixture({ config: { args: [mode] }, timeouts: own, pollMs: 20 });
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('up');
  await fixture.host.untilRequested('/control/messages');
  await fixture.host.down();
  return { entry, elapsed: () => performance.now() - fixture.host.lastResponseAt() };
}

test('ends the agent after the deadline and two failed probes', async () => {
  const { entry, elapsed } = await agentWithoutHost('echo');
  expect(await entry.ended).toBe(124);
  expect(elapsed()).toBeGreaterThan(lostAfterMs);
  expect(elapsed()).toBeLessThan(lostAfterMs + 20_000);
  expect(fixture.errors()).toContain('the host is lost');
});

test('kills an agent that ignores the deadline', async () => {
  // Long enough for the agent to print on a busy machine.
  const killGraceMs = 3_000;
  const { entry, elapsed } = await agentWithoutHost('ignore-sigterm', { killGraceMs });
  expect(await entry.ended).toBe(124);
  expect(elapsed()).toBeGreaterThan(lostAfterMs + killGraceMs);
  await fixture.untilPrinted('received');
  const { up } = await fixture.untilPrinted('up');
  await expect.poll(() => isAlive(Number(up))).toBe(false);
});

test('survives when the host responds to the last probe', async () => {
  // Long enough for a busy machine to reconnect in time.
  const finalProbeMs = 3_000;
  const { entry, elapsed } = await agentWithoutHost('echo', { finalProbeMs });
  await sleep(timeouts.deadlineMs + finalProbeMs + 200 - elapsed());
  await fixture.host.up();
  fixture.host.push('still there');
  await fixture.untilPrinted('bytes');
  fixture.host.closeInput();
  expect(await entry.ended).toBe(0);
});

test('renews the deadline with every response, even after the input was closed', async () => {
  fixture = await createEntryFixture({ config: { args: ['ignore-sigterm'] }, timeouts });
  fixture.host.closeInput();
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('end');
  await sleep(lostAfterMs + timeouts.deadlineMs);
  expect(fixture.errors()).toBe('');
  entry.terminate('SIGKILL');
  expect(await entry.ended).toBe(137);
});

test('ends a sandbox whose host never responds', async () => {
  fixture = await createEntryFixture({ timeouts });
  expect(await fixture.start().ended).toBe(124);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
}
