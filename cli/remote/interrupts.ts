import { exitCodes } from './exit-codes.ts';

export interface Interrupts {
  /** Aborts at the first Ctrl-C. */
  signal: AbortSignal;
  /** Whether there is a second Ctrl-C in this time. */
  again(withinMs: number): Promise<boolean>;
  close(): void;
}

/**
 * Handles Ctrl-C: the first aborts what is being waited for, the second is the command's to use,
 * and the third ends the process.
 */
export function watchInterrupts(...signals: NodeJS.Signals[]): Interrupts {
  const first = new AbortController();
  const second = new AbortController();
  function onSignal(): void {
    if (!first.signal.aborted) return first.abort();
    if (!second.signal.aborted) return second.abort();
    process.exit(exitCodes.interrupted);
  }
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: first.signal,
    again: (withinMs) =>
      new Promise((resolve) => {
        if (second.signal.aborted) return resolve(true);
        const timer = setTimeout(() => resolve(false), withinMs);
        second.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve(true);
        });
      }),
    close() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
