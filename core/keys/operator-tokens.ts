import type { TextRule } from '../field-rules.ts';

const dayMs = 86_400_000;

export const operatorTokenLimits = {
  /** The validity of a token that names no expiry. */
  defaultMs: 90 * dayMs,
  maxMs: 365 * dayMs,
  projectsMax: 100,
  /** The readable part of a token: its prefix and eight characters. */
  shownChars: 12,
} as const;

export const operatorTokenRule: TextRule = {
  pattern: /^fro_[0-9A-Za-z]{43}$/,
  expected: '"fro_" and 43 letters and digits',
};

/** Why the expiry of a new token is rejected. Null: it is accepted. */
export function tokenExpiryError(expiresAt: Date, now: Date): string | null {
  if (expiresAt <= now) return 'must be in the future';
  const { maxMs } = operatorTokenLimits;
  if (expiresAt.getTime() <= now.getTime() + maxMs) return null;
  return `must be at most ${maxMs / dayMs} days from now`;
}

export const defaultTokenExpiry = (now: Date): Date =>
  new Date(now.getTime() + operatorTokenLimits.defaultMs);
