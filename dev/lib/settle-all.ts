/** Waits for all promises even if one fails, so that no work is interrupted. */
export async function settleAll<T extends unknown[]>(
  work: { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
