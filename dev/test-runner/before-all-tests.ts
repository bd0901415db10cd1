import { ensureServedPackages } from '../lib/served-packages.ts';

/** Vitest calls this before the tests of each project. */
export const setup = ensureServedPackages;
