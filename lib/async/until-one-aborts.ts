/** Resolves when one of the signals aborts, and removes its listeners. */
export function untilOneAborts(...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', settle);
      resolve();
    };
    for (const signal of signals) signal.addEventListener('abort', settle);
    if (signals.some(({ aborted }) => aborted)) settle();
  });
}
