import { limits } from '../../core/limits.ts';
import { redisMemoryFor } from '../../core/redis-memory.ts';
import { startLimits } from '../../core/sandbox/start-limits.ts';
import { bytes, count, time } from './units.ts';

/** What runs and processes use, in Markdown. */
export const sizing = `| resource | used by | amount |
|---|---|---|
| host memory | a sandbox | up to ${bytes(limits.sandbox.memoryBytes)} by default; about ${bytes(limits.sandbox.idleMemoryBytes)} while its agent is idle |
| | all sandboxes | \`HOST_CAPACITY\` limits their number; raise it if your agents are light |
| | idle sessions | they are put to sleep \`SESSION_IDLE_MS\` (${time(limits.session.idleMs)}) after their last turn, their last background work and their last reader, and at most \`SESSION_ATTENDED_IDLE_MS\` (${time(limits.session.attendedIdleMs)}) after the turn. Until then they keep their slots and count as runs of their project |
| | idle sessions, if another run needs a slot | the longest-idle one is put to sleep at once, even if a client reads its stream. One with background work comes last, and one with an open question is not put to sleep |
| host processors | a sandbox | ${limits.sandbox.cpus} by default, ${limits.sandbox.startCpus} while it starts, none while it is paused |
| | the service, for each paused session | less than 0.05 % of a processor, as measured |
| | sandboxes that start at once | one per processor. While processes wait for a processor for ${startLimits.highCpuPressure} % of the time or more, one per ${startLimits.cpusPerStartUnderPressure} processors, at least one |
| | further sandboxes that start | they wait for another start to finish, at most ${time(startLimits.waitMaxMs)}. A start has finished with its agent's first output, with its failure, or after ${time(startLimits.permitMaxMs)} |
| host disk | a sandbox | up to \`SPOOL_MAX_BYTES\` and \`WORKSPACE_MAX_BYTES\`, checked every few seconds or enforced by [project quotas](operate.md#project-quotas); the doctor reports less than ${bytes(limits.host.diskFreeMinBytes)} or ${count(limits.host.diskFreeMinInodes)} inodes free |
| | all sandboxes | all but \`DISK_RESERVE_BYTES\` (${bytes(limits.host.diskReserveBytes)}) and \`DISK_RESERVE_INODES\` (${count(limits.host.diskReserveInodes)}). The free space is read every ${limits.host.diskCheckMs} ms; with less, the sandbox that writes most ends with \`disk_full\`, and the others continue |
| | new work | a host gets none while it has less than twice one of these reserves |
| Postgres disk | logs and files | everything that agents write within \`RUN_RETENTION_DAYS\`; \`flowrun doctor\` lists the largest tables |
| | new data | all but \`POSTGRES_DISK_RESERVE_BYTES\` (${bytes(limits.postgres.diskReserveBytes)}), if \`POSTGRES_DISK_DIR\` is set. The free space is read every ${time(limits.postgres.diskCheckMs)}; with less, new runs, sessions, messages and files get 503 with \`Retry-After\` |
| | scheduled runs, without that space | they are tried again for 10 minutes, and then skipped |
| Postgres connections | an API process | up to \`API_POSTGRES_CONNECTIONS\` (${limits.postgres.connections}); up to ${limits.postgres.idleConnections} stay open when idle |
| | a worker | up to \`WORKER_POSTGRES_CONNECTIONS\` (${limits.postgres.connections}), of which ${limits.postgres.reservedByWorker} are for its heartbeat and its leases; up to ${limits.postgres.idleConnections + limits.postgres.reservedByWorker} stay open when idle |
| | all processes | \`max_connections\` of Postgres; \`flowrun doctor\` compares it with the sum over all hosts, one API process per address, and the open connections of other programs |
| Redis memory | a run | up to ${bytes(limits.redis.runMaxBytes)}, until ${time(limits.replay.bufferAfterEndMs)} after its end or after its session has gone to sleep |
| | in total | ${bytes(redisMemoryFor(0))}, and ${bytes(redisMemoryFor(1) - redisMemoryFor(0))} per slot of all hosts: enough for two runs of each. \`flowrun doctor\` compares the sum with \`maxmemory\` of Redis |`;
