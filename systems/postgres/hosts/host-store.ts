import { isHostDiskShort } from '../../../core/hosts/disk-space.ts';
import type { HostHealth } from '../../../core/hosts/host-health.ts';
import type { HostModel } from '../../../core/hosts/host-model.ts';
import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { type KnownDatabase, mustBeChecked, serverStartedMs } from './known-database.ts';

export interface Host {
  hostId: string;
  name: string;
  capacity: number;
  /** Slots that runs occupy. */
  used: number;
  draining: boolean;
  lastSeen: Date;
  /** When its worker was stopped; null while a worker runs, and after a crash. */
  stoppedAt: Date | null;
  /** Measured by the database's clock. */
  msSinceHeartbeat: number;
  model: HostModel;
  /** Whether projects without a model key may run on it. */
  offersModel: boolean;
  /** Null before its first report. */
  report: HostHealth | null;
}

/** The data that a host sends with each heartbeat. */
type HostHeartbeat = Pick<Host, 'hostId' | 'name' | 'capacity'> & {
  report?: HostHealth | null;
  /** By default it has a key. */
  model?: HostModel;
  /** The owner of the lease on its ID, by default the host itself. */
  owner?: string;
  leaseMs?: number;
  /** What the last confirmed heartbeat of the host returned. */
  known?: KnownDatabase | null;
};

interface HeartbeatAnswer {
  draining: boolean;
  /** Whether projects without a model key may run on the host. */
  offersModel: boolean;
  /** Whether any run waits for a slot, or has one and may not have been notified. */
  hasWaiting: boolean;
  known: KnownDatabase;
}

export type HostStore = ReturnType<typeof createHostStore>;

export function createHostStore(pool: Pool) {
  return {
    /**
     * Records a heartbeat and renews the lease on the host's ID. Returns null and records nothing
     * if another worker uses the ID, or if the host has to check the database: the database lacks
     * the host's last confirmed heartbeat, or Postgres was started again (restart or failover).
     */
    renew: (host: HostHeartbeat) => renewHost(pool, host),
    /** The host's worker stops: until its next heartbeat the host gets no new work. */
    markStopped: (hostId: string) => markStopped(pool, hostId),
    list: () => listHosts(pool),
    /** False if there is no such host. */
    setDraining: (hostId: string, draining: boolean) => setDraining(pool, hostId, draining),
  };
}

/** The changes by the command line within a transaction. */
export type HostChanges = ReturnType<typeof createHostChanges>;

export const createHostChanges = (db: Db) => ({
  setDraining: (hostId: string, draining: boolean) => setDraining(db, hostId, draining),
});

async function renewHost(db: Db, host: HostHeartbeat): Promise<HeartbeatAnswer | null> {
  const { model = 'key', owner = host.hostId, leaseMs = 2 * limits.host.renewMs } = host;
  const report = host.report ? JSON.stringify(host.report) : null;
  const known = host.known ?? null;
  const diskShort = host.report ? isHostDiskShort(host.report) : false;
  const { rows } = await db.query<Omit<HeartbeatAnswer, 'known'> & KnownDatabase>(
    `with lease as (
       insert into host_leases as l (host_id, owner, expires_at)
       values ($1, $5, db_clock() + $6 * interval '1 ms')
       on conflict (host_id) do update
         set renewals = l.renewals + 1, expires_at = excluded.expires_at
         where l.owner = excluded.owner
       returning host_id
     ),
     seen as (
       insert into installation (fact) select 'model_key_seen' from lease where $7 = 'key'
       on conflict (fact) do nothing
     )
     insert into hosts as h (id, name, capacity, report, last_seen, model, heartbeats, disk_short)
     select host_id, $2, $3, $4, db_clock(), $7, 1, $9 from lease
     where not ${mustBeChecked('$1', '$8')}
     on conflict (id) do update
       set name = excluded.name, capacity = excluded.capacity, report = excluded.report,
           last_seen = excluded.last_seen, stopped_at = null, model = excluded.model,
           disk_short = excluded.disk_short,
           heartbeats = h.heartbeats + 1, server_started_at = excluded.server_started_at
     returning draining, offers_model(h, null) as "offersModel", heartbeats,
       (select id from database_identity) as "databaseId", array(select id from restores) as restores,
        ${serverStartedMs} as "serverStartedMs", has_waiting() as "hasWaiting"`,
    [host.hostId, host.name, host.capacity, report, owner, leaseMs, model, known, diskShort],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { draining, offersModel, hasWaiting, ...confirmed } = row;
  return { draining, offersModel, hasWaiting, known: confirmed };
}

async function markStopped(db: Db, hostId: string): Promise<void> {
  await db.query('update hosts set stopped_at = db_clock() where id = $1', [hostId]);
}

async function listHosts(db: Db): Promise<Host[]> {
  const { rows } = await db.query<Host>(
    `select h.id as "hostId", h.name, h.capacity, h.draining, h.last_seen as "lastSeen",
            h.stopped_at as "stoppedAt", h.report, h.model,
            offers_model(h, null) as "offersModel",
            (extract(epoch from db_clock() - h.last_seen) * 1000)::bigint as "msSinceHeartbeat",
            (select count(*) from runs r where r.host_id = h.id and occupies_slot(r)) as used
     from hosts h
     order by h.name, h.id`,
  );
  return rows;
}

async function setDraining(db: Db, hostId: string, draining: boolean): Promise<boolean> {
  const text = 'update hosts set draining = $2 where id = $1';
  const { rowCount } = await db.query(text, [hostId, draining]);
  return rowCount === 1;
}
