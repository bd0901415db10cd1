// Calls from an API process to the host that owns a run: a row in Postgres is the request, and a
// notification in Redis announces it. Notifications may be lost, so both sides also poll.

import type { AuditActor } from '../../core/audit/audit-entry.ts';
import type { HostCallKind, HostCallPayload, HostCallResult } from '../../core/hosts/host-rpc.ts';
import { hostChannel, responseChannel } from '../../core/hosts/host-rpc.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import { createNotifier } from '../../lib/async/notifier.ts';
import type { HostRpcStore } from '../../systems/postgres/hosts/host-rpc-store.ts';
import type { Notifications } from '../../systems/redis/notifications.ts';

export interface HostRpcRequest<K extends HostCallKind> {
  hostId: string;
  run: Pick<Run, 'projectId' | 'runId'>;
  kind: K;
  payload: HostCallPayload<K>;
  /** The operator who adds files by the request, for the entry in the audit log. */
  author?: AuditActor | undefined;
}

type HostRpcResponse<K extends HostCallKind> =
  | { outcome: 'done'; result: HostCallResult<K> }
  /** The host may or may not have executed the request: it must be safe to repeat. */
  | { outcome: 'timeout' };

export interface HostRpc {
  call<K extends HostCallKind>(
    request: HostRpcRequest<K>,
    options: { timeoutMs: number },
  ): Promise<HostRpcResponse<K>>;
}

interface HostRpcDeps {
  store: Pick<HostRpcStore, 'open' | 'takeResult' | 'withdraw'>;
  notifications: Pick<Notifications, 'notify' | 'subscribe'>;
  newId: () => string;
}

export function createHostRpc({ store, notifications, newId }: HostRpcDeps): HostRpc {
  return {
    async call({ hostId, run, kind, payload, author }, { timeoutMs }) {
      const { projectId, runId } = run;
      const requestId = newId();
      const until = performance.now() + timeoutMs;
      const notifier = createNotifier();
      const unsubscribe = notifications.subscribe(responseChannel(requestId), notifier.notify);
      try {
        const request = { requestId, projectId, runId, kind, payload: JSON.stringify(payload) };
        await store.open({ ...request, hostId, ttlMs: timeoutMs, author });
        notifications.notify(hostChannel(hostId));
        const result = (await pollResult()) ?? (await store.withdraw(requestId));
        // Written by the handler of this kind, which has this result type.
        const done = (text: string) => JSON.parse(text) as HostCallResult<typeof kind>;
        return result === null ? { outcome: 'timeout' } : { outcome: 'done', result: done(result) };
      } finally {
        unsubscribe();
      }

      async function pollResult(): Promise<string | null> {
        for (let leftMs = timeoutMs; leftMs > 0; leftMs = until - performance.now()) {
          await notifier.waitAtMost(Math.min(leftMs, limits.hostRpc.pollMs));
          const result = await store.takeResult(requestId);
          if (result !== null) return result;
        }
        return null;
      }
    },
  };
}
