// What a run may still spend. A call reserves the most that it can cost before it is made, and returns
// the difference when its cost is known. So calls in parallel cannot exceed the budget together.

interface CallBudget {
  /** False if the call does not fit; then nothing is reserved. */
  reserve(nanos: number): boolean;
  /** Replaces a reservation by the cost. */
  settle(reserved: number, cost: number): void;
}

export function createCallBudget({ limit, spent }: { limit: number; spent: number }): CallBudget {
  let left = limit - spent;
  return {
    reserve(nanos) {
      if (nanos > left) return false;
      left -= nanos;
      return true;
    },
    settle(reserved, cost) {
      left += reserved - cost;
    },
  };
}
