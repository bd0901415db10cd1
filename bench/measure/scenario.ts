/**
 * One measurement of one side: the compared value, and secondary values of the same measurement.
 */
export interface Sample {
  value: number;
  also?: Record<string, number>;
  /** The load generator's share of one CPU. A generator near 1 is itself the bottleneck. */
  generatorShare?: number;
}

/** The service and its limit, ready to be measured alternately. */
export interface Scenario {
  ours(): Promise<Sample>;
  limit(): Promise<Sample>;
  close(): Promise<void>;
}

export interface Target {
  id: string;
  /** Describes what is compared with what. */
  title: string;
  unit: string;
  /** Bounds of the ratio ours/limit. */
  better: 'less' | 'more';
  goal: number;
  gate: number;
  open(): Promise<Scenario>;
}
