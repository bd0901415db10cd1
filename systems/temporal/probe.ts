import type { SearchAttributeName } from '../../core/temporal/search-attributes.ts';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { connectTemporal, type TemporalAddress } from './connect.ts';
import { findMissing } from './search-attributes.ts';

export interface TemporalFacts {
  version: string;
  hasNamespace: boolean;
  /** How many workers have asked for this instance's work in the last five minutes, gone or not. */
  workers: number;
}

export interface TemporalProbe {
  facts(): Promise<TemporalFacts>;
  /** Of those that operators find workflows by. */
  missingSearchAttributes(): Promise<SearchAttributeName[]>;
  close(): Promise<void>;
}

/** For whoever wants to know how it is, and asks nothing else of it. */
export function createTemporalProbe(
  options: TemporalAddress & { instance: string },
): TemporalProbe {
  const { namespace, instance } = options;
  const { client, operator, withDeadline: ask, close } = connectTemporal(options);
  const service = client.workflowService;

  async function hasNamespace(): Promise<boolean> {
    try {
      await ask(() => service.describeNamespace({ namespace }));
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === notFound) return false;
      throw error;
    }
  }

  async function workers(): Promise<number> {
    const taskQueue = { name: runQueue(instance) };
    const { pollers } = await ask(() => service.describeTaskQueue({ namespace, taskQueue }));
    return new Set(pollers.map(({ identity }) => identity)).size;
  }

  return {
    async facts() {
      const { serverVersion: version } = await ask(() => service.getSystemInfo({}));
      const isThere = await hasNamespace();
      return { version, hasNamespace: isThere, workers: isThere ? await workers() : 0 };
    },
    missingSearchAttributes: () => ask(() => findMissing({ operator, namespace })),
    close,
  };
}

/** As gRPC numbers it. */
const notFound = 5;
