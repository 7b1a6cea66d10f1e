import { defineConfig } from 'vitest/config';

/** Tests that start servers, kill them or fill memory: they run alone, one file after the other. */
const PROCESS_TESTS = [
  'tests/e2e/**/*.test.ts',
  'tests/chaos/**/*.test.ts',
  'tests/memory/**/*.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'tests/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'process',
          include: PROCESS_TESTS,
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
