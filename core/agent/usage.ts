/** The calls with an API key during a period. */
export interface KeyUsage {
  calls: number;
  errors: number;
  durationMs: number;
}

export interface DayOfUsage extends KeyUsage {
  /** The day in UTC, like 2026-01-31. */
  day: string;
}

export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);
