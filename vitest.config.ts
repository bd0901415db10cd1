import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Most of a test's time is waiting for servers: more of them than processors keep these busy.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for takes as long as the machine is busy; the usual second is no bound of ours.
    expect: { poll: { timeout: 30_000 } },
  },
});
