/** One measurement of one side. */
export interface Sample {
  /** One value for each target of the scenario, by its id. */
  values: Record<string, number>;
  /** Further values of the same measurement, which have no target. */
  also?: Record<string, number>;
  /** CPU time of load generators in other processes. That of this process is measured anyway. */
  generatorCpuMs?: number;
}

/** The service and its limit, ready to be measured alternately. */
export interface OpenScenario {
  ours(): Promise<Sample>;
  limit(): Promise<Sample>;
  close(): Promise<void>;
}

export interface Target {
  id: string;
  /** What is compared with what. */
  title: string;
  unit: string;
  better: 'less' | 'more';
  /** The ratio that the project aims at. Gates are in gates.json. */
  goal: number;
  /** Room of the gate, as a share of the measured ratio, if more than the 10 % of the others. */
  gateRoomShare?: number;
}

export interface Scenario {
  /** Selects the scenario on the command line, as does the id of each target. */
  id: string;
  targets: readonly Target[];
  /** Fixed beforehand: results never decide how many iterations are made. */
  iterations: number;
  warmUps: number;
  /** Why the scenario cannot be measured on gVisor. Absent if it can. */
  runcOnly?: string;
  /**
   * Installs a peer, or returns why that is impossible. A scenario with a peer is measured only if
   * the command line names it.
   */
  installPeer?: () => Promise<string | undefined>;
  open(): Promise<OpenScenario>;
}
