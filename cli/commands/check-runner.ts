import { runnerError } from '../../core/runs/validate-runner.ts';
import type { Stores } from '../deps.ts';
import { CliError } from '../format-error.ts';

/** Throws if the runner is not the ID of a known host. */
export async function checkRunner(hosts: Stores['hosts'], runner: unknown): Promise<void> {
  const fault = typeof runner === 'string' ? runnerError(runner, await hosts.list()) : null;
  if (fault !== null) throw new CliError(`The runner ${fault}.`);
}
