import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { blankMemory } from '../../../core/agent-memory.ts';
import { takeLease } from '../../../worker/supervisor/lease.ts';

const leaseMs = 15_000;
const taken = { token: 1, generation: 1, byteOffset: 0, lastSeq: 0, memory: blankMemory };

test('is renewed on other connections while some hang, and never by more than fit into it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const hanging: (() => void)[] = [];
  let answered = 0;
  let isHung = true;
  const frames = {
    stealLease: async () => taken,
    renewLease: () => {
      if (isHung) {
        return new Promise<boolean>((_, reject) => {
          hanging.push(() => reject(new Error('gave up')));
        });
      }
      answered += 1;
      return Promise.resolve(true);
    },
  };
  const logger = pino({ enabled: false });
  const lost = vi.fn();
  const lease = await takeLease({ frames, owner: 'h', leaseMs, logger }, 'run-1', lost);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(hanging).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(hanging).toHaveLength(3);
  isHung = false;
  hanging[0]?.();
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(answered).toBe(3);
  expect(lost).not.toHaveBeenCalled();
  lease?.letGo();
});
