import { limits } from '../core/limits.ts';
import { type ByteBudget, createByteBudget } from '../lib/async/byte-budget.ts';

/** The memory of one attempt. */
export interface BodyMemory {
  /** False if the memory is not free soon. Small bodies need none. */
  reserve(projectId: string, bytes: number): Promise<boolean>;
  /** Also returns what is reserved later. */
  release(): void;
}

/**
 * Bodies of webhooks that a worker holds at once, by task queue. Without a bound, every slot could
 * hold a body of several MiB.
 */
export function createBodyMemory(): (queue: string) => BodyMemory {
  const budgets = new Map<string, ByteBudget>();

  function budgetOf(queue: string): ByteBudget {
    const budget = budgets.get(queue) ?? createByteBudget(limits.webhook.bodyBudget);
    budgets.set(queue, budget);
    return budget;
  }

  return (queue) => bodyMemory(budgetOf(queue));
}

function bodyMemory(budget: ByteBudget): BodyMemory {
  let release: () => void = () => undefined;
  let isReleased = false;
  return {
    async reserve(projectId, bytes) {
      if (bytes <= limits.webhook.smallBodyBytes) return true;
      const atMost = Math.min(bytes, limits.webhook.bodyBudget.ownerMaxBytes);
      const reserved = await budget.reserve(projectId, atMost);
      if (reserved === null) return false;
      release = reserved;
      if (isReleased) release();
      return true;
    },
    release() {
      isReleased = true;
      release();
    },
  };
}
