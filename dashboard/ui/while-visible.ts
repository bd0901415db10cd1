/**
 * Calls a function again and again while the page is visible, and when it becomes visible. Returns
 * a function that ends it.
 */
export function whileVisible(everyMs: number, work: () => Promise<unknown>): () => void {
  const call = (): void => {
    // A failure is no news: the next call may succeed, and the first one was shown.
    if (document.visibilityState === 'visible') work().catch(() => undefined);
  };
  const timer = setInterval(call, everyMs);
  document.addEventListener('visibilitychange', call);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', call);
  };
}
