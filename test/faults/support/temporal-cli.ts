import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findTemporal } from '../../../dev/stack/servers/temporal-binary.ts';

const run = promisify(execFile);

/** Runs `temporal workflow terminate`, like an operator. A closed workflow is not an error. */
export async function terminateByCommand(address: string, workflowId: string): Promise<void> {
  const program = await findTemporal(() => undefined);
  const which = ['--workflow-id', workflowId, '--reason', 'by hand', '--address', address];
  await run(program, ['workflow', 'terminate', ...which]).catch((error: { stderr?: string }) => {
    if (!/already completed|not found/.test(error.stderr ?? '')) throw error;
  });
}
