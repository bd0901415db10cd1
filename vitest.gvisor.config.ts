import { defineConfig } from 'vitest/config';
import { gvisorTests } from './dev/test-runner/gvisor-tests.ts';
import base from './vitest.config.ts';

// With TEST_SANDBOX_RUNTIME=runsc, and TEST_DOCKER_HOST that of an engine that has gVisor.
export default defineConfig({ test: { ...base.test, include: gvisorTests() } });
