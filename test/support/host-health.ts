import type { HostHealth } from '../../core/hosts/host-health.ts';

/** The report of a host without problems. */
export const healthyHost: HostHealth = {
  instance: 'test',
  engineVersion: '28.1.0',
  engineProblem: null,
  image: 'sandbox:1',
  imagePresent: true,
  runtimeSetting: 'auto',
  runtime: 'runc',
  runtimeFault: null,
  runtimeProblem: null,
  diskFreeBytes: 50 * 1024 ** 3,
  diskTotalBytes: 100 * 1024 ** 3,
  diskReserveBytes: 2 * 1024 ** 3,
  diskFreeInodes: 5_000_000,
  diskReserveInodes: 50_000,
  projectQuotas: 'off',
  clockAheadMs: 0,
  postgresConnections: 10,
  retention: { runMs: 1, sessionFilesMs: 2, webhookAttemptsMs: 3 },
};
