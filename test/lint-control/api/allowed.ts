// breaks: nothing
import type { RunStore } from '../systems/postgres/run-store.ts';

export type Store = RunStore;
