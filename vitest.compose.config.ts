import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/compose/**/*.compose.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 600_000,
    // The first start builds the images.
    hookTimeout: 1_800_000,
  },
});
