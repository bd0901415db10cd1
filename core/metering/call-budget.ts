// The rest of a run's budget. A call reserves its maximum cost before it is made, and returns the
// difference when its cost is known. So parallel calls cannot exceed the budget together.

export interface CallBudget {
  fits(nanos: number): boolean;
  /** False if it does not fit; then nothing is reserved. */
  reserve(nanos: number): boolean;
  /** Replaces a reservation by the cost. */
  settle(reservedNanos: number, costNanos: number): void;
}

export function createCallBudget({ limit, spent }: { limit: number; spent: number }): CallBudget {
  let left = limit - spent;
  const fits = (nanos: number): boolean => nanos <= left;
  return {
    fits,
    reserve(nanos) {
      if (!fits(nanos)) return false;
      left -= nanos;
      return true;
    },
    settle(reservedNanos, costNanos) {
      left += reservedNanos - costNanos;
    },
  };
}
