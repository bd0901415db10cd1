import type { DoctorContext } from './context.ts';
import type { Store } from './handshake-targets.ts';

/** Something that is wrong. */
export interface Problem {
  /** Stays the same, for scripts and for the pages of advice. */
  code: string;
  /** What is wrong, as a sentence. */
  what: string;
  /** What to do about it. */
  advice: string;
  /** Safe to do without asking: nothing but what a worker would do, too. */
  mend?: () => Promise<void>;
}

export interface CheckResult {
  /** What was seen, in a few words each. */
  said: string[];
  troubles: Problem[];
  /** Why nothing could be looked at from here; null where it was. */
  skipped: string | null;
}

export interface Check {
  name: string;
  /** Other checks without whose subject this one can see nothing. */
  needs: string[];
  /** Checks that must be well before anything is mended: those that show the surroundings to be right. */
  mendNeeds?: string[];
  look(parts: DoctorContext): Promise<CheckResult>;
  /** What is wrong where looking fails, without its full stop: the error is added. */
  ifItFails: Pick<Problem, 'code' | 'what' | 'advice'>;
  /** What it asks: where that fails, the handshake with it may say more. */
  store?: Store;
}

export const seen = (said: string[], ...troubles: Problem[]): CheckResult => ({
  said,
  troubles,
  skipped: null,
});

export const notHere = (skipped: string): CheckResult => ({ said: [], troubles: [], skipped });

/** `1 run`, `2 runs`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
