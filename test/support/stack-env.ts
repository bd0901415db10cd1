// The addresses of the test stack's servers, which `npm test` starts and passes in the environment.

import type { SandboxRuntime } from '../../core/sandbox/sandbox-runtime.ts';

interface StackEnv {
  /** A server on which every test file creates its database. */
  postgresUrl: string;
  redisUrl: string;
  temporalAddress: string;
  /** unix://… */
  dockerHost: string;
  /**
   * runc, unless TEST_SANDBOX_RUNTIME is runsc. A test uses one runtime, even if the engine has
   * both.
   */
  sandboxRuntime: SandboxRuntime;
  sandboxImage: string;
  /** The sandbox image with the scripted agent instead of the real one. */
  scriptedImage: string;
  /** Holds ca.crt, and server.crt with server.key for localhost and 127.0.0.1. */
  caDir: string;
  /** The folder for a test's files. Its path is short enough for unix sockets below it. */
  dataDir: string;
  /** The path of a Chromium. */
  browser: string;
  /** The path of Prometheus' tool that tests alert rules. */
  promtool: string;
  /** The path of a Python that has the packages of the Python client. */
  python: string;
}

/** Variables are read on access, so that a test requires only the servers it uses. */
export const stackEnv: Readonly<StackEnv> = {
  get postgresUrl() {
    return read('TEST_POSTGRES_URL');
  },
  get redisUrl() {
    return read('TEST_REDIS_URL');
  },
  get temporalAddress() {
    return read('TEST_TEMPORAL_ADDRESS');
  },
  get dockerHost() {
    return read('TEST_DOCKER_HOST');
  },
  get sandboxRuntime() {
    return process.env['TEST_SANDBOX_RUNTIME'] === 'runsc' ? 'runsc' : 'runc';
  },
  get sandboxImage() {
    return read('TEST_SANDBOX_IMAGE');
  },
  get scriptedImage() {
    return read('TEST_SCRIPTED_IMAGE');
  },
  get caDir() {
    return read('TEST_CA_DIR');
  },
  get dataDir() {
    return read('TEST_DATA_DIR');
  },
  get browser() {
    return read('TEST_BROWSER');
  },
  get promtool() {
    return read('TEST_PROMTOOL');
  },
  get python() {
    return read('TEST_PYTHON');
  },
};

function read(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set: run the tests with \`npm test\`, which starts the stack.`);
}
