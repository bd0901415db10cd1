import type { HostRpc, HostRpcRequest } from '../../../api/files/host-rpc.ts';
import type { HostCallKind, HostCalls } from '../../../core/hosts/host-rpc.ts';

/** The host of every run: it accepts every request, and has no files. */
export function fakeHostRpc(): HostRpc {
  const results: { [K in keyof HostCalls]: HostCalls[K]['result'] } = {
    store_file: { outcome: 'missing' },
    store_files: { outcome: 'stored' },
    write_files: { outcome: 'written' },
    answer_interaction: { outcome: 'delivered' },
  };
  return {
    call: async <K extends HostCallKind>({ kind }: HostRpcRequest<K>) => ({
      outcome: 'done' as const,
      result: results[kind],
    }),
  };
}
