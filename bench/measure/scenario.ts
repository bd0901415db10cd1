/** One measurement of one side: the figure that is compared, and others of the same measurement. */
export interface Sample {
  value: number;
  also?: Record<string, number>;
  /** Of one processor, what the load generator took: one that is busy all the time is the limit itself. */
  generatorShare?: number;
}

/** The service and its limit, ready to be measured in turns. */
export interface Scenario {
  ours(): Promise<Sample>;
  limit(): Promise<Sample>;
  close(): Promise<void>;
}

export interface Target {
  id: string;
  /** What is compared with what. */
  title: string;
  unit: string;
  /** Of the ratio ours/limit. */
  better: 'less' | 'more';
  goal: number;
  gate: number;
  open(): Promise<Scenario>;
}
