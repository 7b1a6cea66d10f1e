/**
 * Tests that need a container engine. `npm test` finds out first which can be started on this
 * machine. Tests with one that cannot are counted as not run.
 */
import { test } from 'vitest';
import { DOCKER, PODMAN } from './engine-probe.ts';

export const engineTest = test.skipIf(process.env[DOCKER.variable] !== undefined);
export const podmanTest = test.skipIf(process.env[PODMAN.variable] !== undefined);
