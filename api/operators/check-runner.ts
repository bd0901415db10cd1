import { runnerError } from '../../core/runs/validate-runner.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';

/** The host must be known to the service. */
export async function checkRunner(
  { facts }: Pick<ApiDeps, 'facts'>,
  runner: unknown,
): Promise<void> {
  if (typeof runner !== 'string') return;
  const fault = runnerError(runner, await facts.hosts());
  if (fault !== null) throw invalid(`body.runner: ${fault}`);
}
