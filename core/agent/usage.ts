/** What was done with an API key in a while. */
export interface KeyUsage {
  calls: number;
  errors: number;
  durationMs: number;
}

export interface DayOfUsage extends KeyUsage {
  /** Of UTC, like 2026-01-31. */
  day: string;
}

export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);
