import { defineConfig } from 'vitest/config';

/**
 * Tests that wear out a disk byte by byte, or need one of their own: seconds each, so not in
 * `check`.
 */
const DISK_TESTS = [
  'packages/log/src/file/file-log-process.test.ts',
  'packages/log/src/segments/flipped-bytes.test.ts',
  'packages/log/src/file/full-disk.test.ts',
  'packages/log/src/segments/segment-recycling.test.ts',
  'packages/log/src/segments/torn-tail.test.ts',
  'packages/log/src/disk/write-error-process.test.ts',
];

/** Tests that let hundreds of worlds live, look for planted bugs, and compile them. */
const SIMULATOR_TESTS = [
  'packages/simulator/src/simulator-process.test.ts',
  'packages/simulator/src/mutants/mutants-process.test.ts',
];

/** Tests that kill servers or fill memory: they run alone, one file after the other. */
const PROCESS_TESTS = ['tests/{chaos,counters,memory}/**/*.test.ts'];

/** Much longer than any test takes on a busy machine: a test that waits for ever must end. */
const TEST_MS_MAX = 240_000;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'examples/**/*.test.ts', 'tests/*.test.ts'],
          exclude: [...DISK_TESTS, ...SIMULATOR_TESTS],
          setupFiles: ['tests/support/random-sequences.ts'],
          // Vitest leaves one core to itself, which is half of a small machine.
          maxWorkers: '100%',
          testTimeout: TEST_MS_MAX,
        },
      },
      {
        test: {
          // Each file has servers of its own, and much of their time is waiting.
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          maxWorkers: 3,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'process',
          include: [...PROCESS_TESTS, ...DISK_TESTS, ...SIMULATOR_TESTS],
          fileParallelism: false,
          testTimeout: TEST_MS_MAX,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
