/** Calls a function again and again while the page is visible. Returns a function that ends it. */
export function whileVisible(everyMs: number, work: () => Promise<unknown>): () => void {
  const timer = setInterval(() => {
    // A failure is no news: the next call may succeed, and the first one was shown.
    if (document.visibilityState === 'visible') work().catch(() => undefined);
  }, everyMs);
  return () => clearInterval(timer);
}
