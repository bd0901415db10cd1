// Postgres may continue without its last commits: after a failover to a replica that had not
// received them, point-in-time recovery, or the return to a disk snapshot. The worker stores
// outside Postgres what its last confirmed heartbeat returned about the database. If the database
// has fewer heartbeats of this host, commits are lost. A loss between two heartbeats does not
// change their number. So after each start of Postgres (restart or failover), no heartbeat is
// accepted before the worker has compared the database with Redis, which stores the last commits of
// all processes. Clocks, restarts and new servers alone prove no loss. Lost commits are handled as
// a restore from backup.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { CommitsInRedis } from '../../core/hosts/commits-in-redis.ts';
import { limits } from '../../core/limits.ts';
import { retryUntilAborted } from '../../lib/async/retry.ts';
import { singleFlight } from '../../lib/async/single-flight.ts';
import type { KnownDatabase, LossStore } from '../../systems/postgres/hosts/known-database.ts';

interface LossDetectorDeps {
  losses: LossStore;
  hostId: string;
  dataDir: string;
  /** Throws if Redis does not answer. */
  readCommits(): Promise<CommitsInRedis>;
  /** How long `readCommits` is retried. */
  redisTimeoutMs?: number;
  /** Deletes what Redis has of runs, because it is newer than the database. */
  purgeStreams(): Promise<void>;
  logger: Logger;
}

export interface LossDetector {
  /** What the last confirmed heartbeat returned. Null if this host has none. */
  known(): KnownDatabase | null;
  /** Call after each confirmed heartbeat. Resolves when it is stored; never rejects. */
  remember(confirmed: KnownDatabase): Promise<void>;
  /**
   * `lost`: commits were lost. They are now recorded as a restore, by this host or another.
   * `no_loss_found`: Postgres was started again (restart or failover), and lacks no commit that
   * Redis stores, or Redis cannot be read. After both the next heartbeat is accepted.
   */
  check(signal: AbortSignal): Promise<'unchanged' | 'no_loss_found' | 'lost'>;
}

export function createLossDetector(deps: LossDetectorDeps): LossDetector {
  const { losses, hostId, logger } = deps;
  const path = join(deps.dataDir, 'database.json');
  let known = readKnown(path);
  const storeKnown = singleFlight(() =>
    writeKnown(path, known).catch((err: unknown) =>
      logger.warn({ err }, 'known_database_write_failed'),
    ),
  );

  return {
    known: () => known,
    async remember(confirmed) {
      if (known !== null && known.databaseId !== confirmed.databaseId)
        logger.warn({ hostId, hint: otherDatabase }, 'other_database');
      known = confirmed;
      await storeKnown();
    },
    async check(signal) {
      if (known === null) return 'unchanged';
      const { isBehind, isRestarted, serverStartedMs } = await losses.compare(hostId, known);
      if (!isBehind && !isRestarted) return 'unchanged';
      if (!isBehind && !(await lacksCommits(deps, signal))) {
        known = { ...known, serverStartedMs };
        return 'no_loss_found';
      }
      const isRecordedByThisHost = await losses.recordLoss(hostId, known);
      const context = { hostId, isRecordedByThisHost, ...known, hint: lostCommits };
      logger.error(context, 'database_commits_lost');
      known = null;
      void purge(deps, signal); // Redis may be down as well
      return 'lost';
    },
  };
}

/** False also if Redis cannot be read: then a loss cannot be detected. */
async function lacksCommits(deps: LossDetectorDeps, signal: AbortSignal): Promise<boolean> {
  const { losses, hostId, logger, redisTimeoutMs = limits.redis.commitsTimeoutMs } = deps;
  const commits = await retryUntilAborted(() => deps.readCommits(), {
    signal: AbortSignal.any([signal, AbortSignal.timeout(redisTimeoutMs)]),
    onFailure: onRedisFailure(logger),
  }).catch(() => null);
  if (commits !== null) return losses.lacksAny(commits);
  logger.warn({ hostId, hint: notCompared }, 'database_comparison_failed');
  return false;
}

async function purge({ purgeStreams, logger }: LossDetectorDeps, signal: AbortSignal) {
  const onFailure = onRedisFailure(logger);
  await retryUntilAborted(purgeStreams, { signal, onFailure }).catch(() => undefined);
}

const onRedisFailure =
  (logger: Logger) =>
  (err: unknown, attempt: number): void =>
    logger.warn({ err, attempt }, 'dependency_unavailable');

const lostCommits =
  'Postgres has lost commits that it had confirmed. This is handled as a restore: active runs end, and ' +
  'operators sign in again. See docs/backup.md.';

const notCompared =
  'Postgres was started again, and Redis does not answer. If Postgres has lost commits since the ' +
  'last heartbeat of this host, the loss is not detected.';

const otherDatabase =
  'DATABASE_URL leads to another database than at the last heartbeat of this host. If that is not ' +
  'intended, correct DATABASE_URL.';

/** Null without a file, and if a crash has damaged it. */
function readKnown(path: string): KnownDatabase | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as KnownDatabase;
  } catch {
    return null;
  }
}

async function writeKnown(path: string, known: KnownDatabase | null): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(known), { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}
