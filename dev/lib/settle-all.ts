/** Waits for all of it even when one part fails, so that nothing is cut off in the middle. */
export async function settleAll<T extends unknown[]>(
  work: { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
