/** For how long Postgres has heard this host without a gap: for as long, others could speak to it too. */
interface RenewalStreak {
  renewed(): void;
  forMs(): number;
}

/** By the clock of the wall: a machine that was asleep has said nothing meanwhile. */
export function createRenewalStreak({
  gapMs,
  now,
}: {
  gapMs: number;
  now: () => Date;
}): RenewalStreak {
  let since = 0;
  let last = 0;
  return {
    renewed() {
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
