import type { Labels } from './run.ts';

/** A new value per label; null removes it. */
export type LabelChange = Record<string, string | null>;

export function changedLabels(labels: Labels, change: LabelChange): Labels {
  const all = Object.entries({ ...labels, ...change });
  return Object.fromEntries(all.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}
