import { randomBytes } from 'node:crypto';
import { msToTs } from '@temporalio/common/lib/time.js';
import { connectTemporal } from '../../systems/temporal/connect.ts';
import { stackEnv } from './stack-env.ts';

/** Creates an empty namespace on the stack's Temporal, and returns its name. */
export async function createNamespace(): Promise<string> {
  const namespace = `n-${randomBytes(4).toString('hex')}`;
  const { client, withDeadline, close } = connectTemporal({
    namespace,
    connection: { address: stackEnv.temporalAddress },
  });
  const workflowExecutionRetentionPeriod = msToTs('1 day');
  try {
    await withDeadline(() =>
      client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }),
    );
  } finally {
    await close();
  }
  return namespace;
}
