// Serves the API's calls to this host. A request is a row that remains until it has a result. If
// the process dies in between, the request is handled again, so handlers are safe to repeat. A
// handler that throws is called again at the next poll, until the request expires.

import type { Logger } from 'pino';
import type { RunLogContext } from '../../activities/sanitize-errors.ts';
import {
  type HostCallKind,
  type HostCallPayload,
  type HostCallResult,
  hostChannel,
  responseChannel,
} from '../../core/hosts/host-rpc.ts';
import { limits } from '../../core/limits.ts';
import { createNotifier } from '../../lib/async/notifier.ts';
import type { HostRpcRow, HostRpcStore } from '../../systems/postgres/hosts/host-rpc-store.ts';
import type { Notifications } from '../../systems/redis/notifications.ts';

/** One handler per kind. It may be called twice for one request, even concurrently. */
export type RpcHandlers = {
  [K in HostCallKind]: (
    payload: HostCallPayload<K>,
    of: { runId: string },
  ) => Promise<HostCallResult<K>>;
};

interface HostRpcDeps {
  hostId: string;
  store: Pick<HostRpcStore, 'listOpen' | 'setResult' | 'removeExpired'>;
  notifications: Pick<Notifications, 'notify' | 'subscribe'>;
  handlers: RpcHandlers;
  runLogContext: RunLogContext;
  logger: Logger;
}

const expireEveryMs = 60_000;

/** Serves requests until the signal, then waits for those in progress. */
export async function serveHostRpc(deps: HostRpcDeps, signal: AbortSignal): Promise<void> {
  const notifier = createNotifier();
  const removeExpired = createExpiry(deps);
  const unsubscribe = deps.notifications.subscribe(hostChannel(deps.hostId), notifier.notify);
  const underWay = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    await removeExpired();
    const open = await fetchPending(deps);
    for (const request of open) {
      if (underWay.size >= limits.hostRpc.concurrency) break;
      if (underWay.has(request.requestId)) continue;
      const handled = handle(deps, request).finally(() => {
        underWay.delete(request.requestId);
        if (underWay.size === limits.hostRpc.concurrency - 1) notifier.notify(); // others may have waited
      });
      underWay.set(request.requestId, handled);
    }
    await notifier.waitAtMost(limits.hostRpc.pollMs, signal);
  }
  unsubscribe();
  await Promise.all(underWay.values());
}

async function fetchPending({ hostId, store, logger }: HostRpcDeps): Promise<HostRpcRow[]> {
  try {
    return await store.listOpen(hostId, 2 * limits.hostRpc.concurrency);
  } catch (err) {
    logger.warn({ err }, 'host_rpc_poll_failed');
    return [];
  }
}

/** Removes expired requests. The process that waited for them has died. */
function createExpiry({ store, logger }: HostRpcDeps): () => Promise<void> {
  let dueAt = 0;
  return async () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + expireEveryMs;
    await store
      .removeExpired()
      .catch((err: unknown) => logger.warn({ err }, 'host_rpc_cleanup_failed'));
  };
}

/** Never rejects. */
async function handle(deps: HostRpcDeps, request: HostRpcRow): Promise<void> {
  const { requestId, runId, kind } = request;
  try {
    const result = await callHandler(deps.handlers, request);
    await deps.store.setResult(requestId, JSON.stringify(result));
    deps.notifications.notify(responseChannel(requestId));
  } catch (err) {
    deps.logger.warn({ err, kind, ...(await deps.runLogContext(runId)) }, 'host_rpc_failed');
  }
}

function callHandler(
  handlers: RpcHandlers,
  { runId, kind, payload }: HostRpcRow,
): Promise<unknown> {
  if (!Object.hasOwn(handlers, kind)) throw new Error(`this host has no handler for ${kind}`);
  // The API has written the payload for this kind.
  const handler = handlers[kind as HostCallKind] as (
    payload: unknown,
    of: { runId: string },
  ) => Promise<unknown>;
  return handler(JSON.parse(payload), { runId });
}
