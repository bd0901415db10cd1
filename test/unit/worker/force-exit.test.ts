import pino from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { forceExitAfterGrace } from '../../../worker/force-exit.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a process that something keeps alive reports the reason and exits anyway', () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const lines: string[] = [];
  forceExitAfterGrace(pino({}, { write: (line: string) => void lines.push(line) }));
  vi.advanceTimersByTime(4_999);
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(exit).toHaveBeenCalledWith(0);
  expect(lines.join('')).toContain('worker_forced_exit');
  expect(lines.join('')).toContain('"resources":[');
});
