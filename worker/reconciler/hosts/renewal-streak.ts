/**
 * How long this host's heartbeat has had no gap. Other hosts could renew theirs in that time, too.
 */
interface RenewalStreak {
  renewed(): void;
  forMs(): number;
}

/** Uses wall-clock time, because a suspended machine sends no heartbeat. */
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
