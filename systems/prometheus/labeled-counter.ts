import { Counter, type Registry } from 'prom-client';

interface LabeledCounter<L extends string> {
  name: string;
  help: string;
  label: L;
  values: readonly string[];
}

/** Exports each value as 0 before it first occurs, so that its first increase is seen. */
export function createLabeledCounter<L extends string>(
  registry: Registry,
  { name, help, label, values }: LabeledCounter<L>,
): Counter<L> {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.labels(value).inc(0);
  return counter;
}
