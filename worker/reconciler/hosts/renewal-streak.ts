/** For how long Postgres has heard this host without a gap: for as long, others could speak to it too. */
export interface Hearing {
  heard(): void;
  forMs(): number;
}

/** By the clock of the wall: a machine that was asleep has said nothing meanwhile. */
export function createHearing({ gapMs, now }: { gapMs: number; now: () => Date }): Hearing {
  let since = 0;
  let last = 0;
  return {
    heard() {
      const at = now().getTime();
      if (at - last > gapMs) since = at;
      last = at;
    },
    forMs() {
      const at = now().getTime();
      return at - last > gapMs ? 0 : at - since;
    },
  };
}
