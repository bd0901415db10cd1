import type { Labels } from './run.ts';

/** What is to become of each label: a new value, or null for none. */
export type LabelChange = Record<string, string | null>;

export function changedLabels(labels: Labels, change: LabelChange): Labels {
  const all = Object.entries({ ...labels, ...change });
  return Object.fromEntries(all.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}
