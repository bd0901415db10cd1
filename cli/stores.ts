import type { FlowStore } from '../systems/postgres/flow-store.ts';
import type { KeyStore } from '../systems/postgres/key-store.ts';
import type { ProjectStore } from '../systems/postgres/project-store.ts';

export interface Stores {
  projects: ProjectStore;
  flows: FlowStore;
  keys: KeyStore;
}

/** What the commands ask of the world. */
export interface World {
  withStores<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  migrate(): Promise<void>;
}
