/** Stops the work of a simulated sandbox while it is paused. */
export interface Freezer {
  freeze(): void;
  thaw(): void;
  /** Resolves as soon as nothing is frozen. */
  thawed(): Promise<void>;
}

export function createFreezer(): Freezer {
  let frozen: { thawed: Promise<void>; resolve: () => void } | null = null;
  return {
    freeze() {
      if (frozen !== null) return;
      const { promise: thawed, resolve } = Promise.withResolvers<void>();
      frozen = { thawed, resolve };
    },
    thaw() {
      frozen?.resolve();
      frozen = null;
    },
    async thawed() {
      await frozen?.thawed;
    },
  };
}
