import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createSelfFence } from '../../../../worker/host/self-fence.ts';

const times = { renewMs: 25, fenceMs: 60_000 };
const own = { containerId: 'c-1', runId: 'r-1', projectId: 'p', hostId: 'h', generation: 1 };

/** A host with one sandbox, and clocks that a test moves. */
function fencedHost() {
  const clocks = { monotonicMs: 1_000, wallMs: 1_000_000 };
  const container: { state: 'running' | 'paused' } = { state: 'running' };
  const logged: string[] = [];
  const fence = createSelfFence({
    hostId: 'h',
    times,
    runs: { activeOnHost: async () => [own] as never }, // only its key is used
    sandboxes: {
      list: async () => [{ ...own, state: container.state }],
      pause: async () => void (container.state = 'paused'),
      unpause: async () => void (container.state = 'running'),
    },
    egress: { block: () => undefined, unblock: () => undefined },
    logger: pino({}, { write: (line: string) => void logged.push(line) }),
    now: () => ({ ...clocks }),
  });
  const stop = new AbortController();
  const running = fence.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const pass = (monotonicMs: number, wallMs: number): void => {
    clocks.monotonicMs += monotonicMs;
    clocks.wallMs += wallMs;
  };
  return { fence, clocks, container, logged, pass };
}

const aFewTicks = () => new Promise((resolve) => setTimeout(resolve, 40));
const second = 1_000;

test('a host without a heartbeat is fenced once its time has passed, and not before', async () => {
  const { container, pass } = fencedHost();
  pass(60 * second, 60 * second);
  await aFewTicks();
  expect(container.state).toBe('running');
  pass(1, 1);
  await expect.poll(() => container.state).toBe('paused');
});

test('a host that was suspended is fenced until its next heartbeat', async () => {
  const { fence, clocks, container, logged, pass } = fencedHost();
  await aFewTicks();
  const sentBefore = { ...clocks };
  pass(1, 300 * second);
  await expect.poll(() => container.state).toBe('paused');
  expect(logged.join('')).toMatch(/"msSinceRenewal":300000,.*host_fenced/);
  // Its answer was under way during the suspension.
  fence.renewed(sentBefore);
  await aFewTicks();
  expect(container.state).toBe('paused');
  pass(1, 1);
  fence.renewed({ ...clocks });
  await expect.poll(() => container.state).toBe('running');
});

test('a clock that is set back does not prevent fencing', async () => {
  const { container, pass } = fencedHost();
  pass(60 * second + 1, -3_600 * second);
  await expect.poll(() => container.state).toBe('paused');
});
