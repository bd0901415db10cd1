import type { HostHealth } from '../../../core/hosts/host-health.ts';
import type { Db, Pool } from '../client/pool.ts';

export interface Host {
  hostId: string;
  name: string;
  capacity: number;
  /** Slots that runs occupy. */
  used: number;
  draining: boolean;
  lastSeen: Date;
  /** By the database's clock. */
  msSinceHeartbeat: number;
  /** Null before its first report. */
  report: HostHealth | null;
}

/** What a host sends with each heartbeat. */
type HostHeartbeat = Pick<Host, 'hostId' | 'name' | 'capacity'> & {
  report?: HostHealth | null;
};

export type HostStore = ReturnType<typeof createHostStore>;

export function createHostStore(pool: Pool) {
  return {
    /** Records a heartbeat; returns whether the host is draining. */
    renew: (host: HostHeartbeat) => renewHost(pool, host),
    list: () => listHosts(pool),
    /** False if there is no such host. */
    setDraining: (hostId: string, draining: boolean) => setDraining(pool, hostId, draining),
  };
}

async function renewHost(db: Db, host: HostHeartbeat): Promise<{ draining: boolean }> {
  const report = host.report ? JSON.stringify(host.report) : null;
  const { rows } = await db.query<{ draining: boolean }>(
    `insert into hosts (id, name, capacity, report, last_seen)
     values ($1, $2, $3, $4, db_clock())
     on conflict (id) do update
       set name = excluded.name, capacity = excluded.capacity, report = excluded.report,
           last_seen = excluded.last_seen
     returning draining`,
    [host.hostId, host.name, host.capacity, report],
  );
  return { draining: rows[0]?.draining ?? false };
}

async function listHosts(db: Db): Promise<Host[]> {
  const { rows } = await db.query<Host>(
    `select h.id as "hostId", h.name, h.capacity, h.draining, h.last_seen as "lastSeen", h.report,
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
