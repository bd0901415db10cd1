import type { Db } from './pool.ts';

/** How many connections the server allows, and the processes besides the workers that use them. */
export interface ConnectionUse {
  /** `max_connections` without those that are reserved for superusers. */
  available: number;
  /** Open connections of other programs, such as Temporal. */
  others: number;
  /** Addresses from which an API is connected. */
  apiAddresses: number;
}

/** The application name of other users' connections is hidden, so theirs count as `others`. */
export async function readConnectionUse(db: Db, instance: string): Promise<ConnectionUse> {
  const { rows } = await db.query<ConnectionUse>(
    `select current_setting('max_connections')::int
              - current_setting('superuser_reserved_connections')::int
              - coalesce(current_setting('reserved_connections', true)::int, 0) as available,
            count(*) filter (
              where a.application_name is null
                 or a.application_name not in ($1 || '-api', $1 || '-worker', 'flowrun-doctor')
            )::int as others,
            (count(distinct coalesce(host(a.client_addr), 'local'))
               filter (where a.application_name = $1 || '-api'))::int as "apiAddresses"
     from pg_stat_activity a
     where a.datid is not null and coalesce(a.backend_type, 'client backend') = 'client backend'`,
    [instance],
  );
  return rows[0] ?? { available: 0, others: 0, apiAddresses: 0 };
}
