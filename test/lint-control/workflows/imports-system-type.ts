// breaks: eslint(no-restricted-imports)
import type { RunStore } from '../systems/postgres/run-store.ts';

export type Store = RunStore;
