import type { SearchAttributeName } from '../../core/temporal/search-attribute-names.ts';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { connectTemporal, type TemporalAddress } from './connect.ts';
import { findMissing } from './search-attributes.ts';

interface TemporalFacts {
  version: string;
  hasNamespace: boolean;
  /** Workers that polled this instance's queue in the last five minutes, including stopped ones. */
  workers: number;
}

export interface TemporalProbe {
  facts(): Promise<TemporalFacts>;
  /** The service's search attributes that the namespace lacks. */
  missingSearchAttributes(): Promise<SearchAttributeName[]>;
  close(): Promise<void>;
}

/** For the doctor, which only checks Temporal's state. */
export function createTemporalProbe(
  options: TemporalAddress & { instance: string },
): TemporalProbe {
  const { namespace, instance } = options;
  const { client, operator, withDeadline, close } = connectTemporal(options);
  const service = client.workflowService;

  async function hasNamespace(): Promise<boolean> {
    try {
      await withDeadline(() => service.describeNamespace({ namespace }));
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === notFound) return false;
      throw error;
    }
  }

  async function workers(): Promise<number> {
    const taskQueue = { name: runQueue(instance) };
    const { pollers } = await withDeadline(() =>
      service.describeTaskQueue({ namespace, taskQueue }),
    );
    return new Set(pollers.map(({ identity }) => identity)).size;
  }

  return {
    async facts() {
      const { serverVersion: version } = await withDeadline(() => service.getSystemInfo({}));
      const exists = await hasNamespace();
      return { version, hasNamespace: exists, workers: exists ? await workers() : 0 };
    },
    missingSearchAttributes: () => withDeadline(() => findMissing({ operator, namespace })),
    close,
  };
}

/** gRPC's status code NOT_FOUND. */
const notFound = 5;
