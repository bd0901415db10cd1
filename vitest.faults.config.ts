import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/faults/**/*.fault.ts'],
    pool: 'forks',
    // One file at a time: each wants the machine, and what is killed in one is another's ground.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
