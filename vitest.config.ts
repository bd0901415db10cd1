import { defineConfig } from 'vitest/config';
import { gvisorTests } from './dev/test-runner/gvisor-tests.ts';
import { InterleavedSequencer } from './dev/test-runner/interleaved-sequencer.ts';

const minutes = 60_000;
const tests = {
  unit: sharingProcesses('unit', 'test/unit/**/*.test.ts'), // needs no servers and no Docker
  // Parts with real servers, and the whole service. Vitest starts a process for a file whose
  // project differs from that of the file before, so they are one project.
  stack: sharingProcesses('stack', 'test/integration/**/*.test.ts', 'test/system/**/*.test.ts'),
};
/** These take long or disturb the machine: they run only when `--project` names them. */
const onRequest = {
  gvisor: project('gvisor', ...gvisorTests),
  faults: oneByOne('faults', 'test/faults/**/*.fault.ts', 10),
  soak: oneByOne('soak', 'test/soak/**/*.soak.ts', 60),
  openapi: oneByOne('openapi', 'test/openapi/**/*.openapi.ts', 60),
  compose: oneByOne('compose', 'test/compose/**/*.compose.ts', 10),
};

if (Number.parseInt(process.versions.node, 10) < 22) {
  throw new Error(
    `Node ${process.versions.node} runs no TypeScript: use npm test or npm run check.`,
  );
}

export default defineConfig({
  test: {
    projects: requestedProjects(),
    pool: 'forks',
    globalSetup: 'dev/test-runner/before-all-tests.ts',
    // Tests mostly wait for servers: more of them than processors keep the processors busy.
    maxWorkers: 4,
    sequence: { sequencer: InterleavedSequencer },
    testTimeout: minutes,
    hookTimeout: 2 * minutes,
    // A busy machine delays what is polled for, and the default is one second.
    expect: { poll: { timeout: 30_000 } },
  },
});

function project(name: string, ...include: string[]) {
  return { extends: true as const, test: { name, include } };
}

/**
 * A process per file would double the time: most files test for less time than a process starts.
 */
function sharingProcesses(name: string, ...include: string[]) {
  const { extends: inherit, test } = project(name, ...include);
  const setupFiles = ['test/support/check-process.ts'];
  return { extends: inherit, test: { ...test, isolate: false, setupFiles } };
}

function oneByOne(name: string, include: string, timeoutMinutes: number) {
  const { extends: inherit, test } = project(name, include);
  const testTimeout = timeoutMinutes * minutes;
  // The first start of the compose tests builds the images.
  const hookTimeout = 30 * minutes;
  return { extends: inherit, test: { ...test, fileParallelism: false, testTimeout, hookTimeout } };
}

function requestedProjects() {
  const line = process.argv.join(' ');
  const requested = Object.entries(onRequest).filter(([name]) =>
    new RegExp(`--project[= ]${name}\\b`).test(line),
  );
  return [...Object.values(tests), ...requested.map(([, one]) => one)];
}
