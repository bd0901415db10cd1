import { randomUUID } from 'node:crypto';
import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';
import { hashOfToken, randomToken } from '../client/random-token.ts';

/** A person who administers all projects. */
export interface Operator {
  operatorId: string;
  name: string;
  createdAt: Date;
}

/** The only time the code is readable. */
interface SignInCode {
  operator: Operator;
  code: string;
  expiresAt: Date;
}

export type OperatorStore = ReturnType<typeof createOperatorStore>;

export function createOperatorStore(pool: Db) {
  return {
    /** Creates the operator unless the name exists, and a sign-in code in either case. */
    invite: (name: string) => invite(pool, name),
    /**
     * Creates the first operator with a sign-in code, once per installation; null if there is or
     * was an operator.
     */
    inviteFirst: (name: string) => inviteFirst(pool, name),
    /** A code works once. Null if it is unknown, used or expired. */
    signIn: (code: string) => signIn(pool, code),
    /** Null if the session has ended or the operator was removed. */
    findBySession: (session: string) => findBySession(pool, session),
    /** False if the session has ended. */
    signOut: (session: string) => signOut(pool, session),
    list: () => listOperators(pool),
    /** Also ends all sessions. Returns the operator's ID, or null if there is none. */
    remove: (name: string) => removeOperator(pool, name),
  };
}

interface OperatorRow {
  id: string;
  name: string;
  created_at: Date;
}

type LinkRow = OperatorRow & { expires_at: Date };

const after = (parameter: string): string => `db_clock() + ${parameter} * interval '1 ms'`;

async function invite(db: Db, name: string): Promise<SignInCode> {
  const code = randomToken();
  const { rows } = await db.query<LinkRow>(
    `with operator as (
       insert into operators (id, name) values ($1, $2)
       on conflict (name) do update set name = excluded.name
       returning id, name, created_at
     )
     ${insertLinkFor(3)}`,
    [randomUUID(), name, hashOfToken(code), limits.operator.signInLinkMs],
  );
  if (!rows[0]) throw new Error('the operator was not stored');
  return codeOf(rows[0], code);
}

async function inviteFirst(db: Db, name: string): Promise<SignInCode | null> {
  const code = randomToken();
  const { rows } = await db.query<LinkRow>(
    `with claimed as (
       insert into installation (fact)
       select 'first_operator_invited' where not exists (select from operators)
       on conflict do nothing
       returning fact
     ),
     operator as (
       insert into operators (id, name) select $1, $2 from claimed
       on conflict do nothing
       returning id, name, created_at
     )
     ${insertLinkFor(3)}`,
    [randomUUID(), name, hashOfToken(code), limits.operator.signInLinkMs],
  );
  return rows[0] ? codeOf(rows[0], code) : null;
}

/** Completes a statement with the CTE `operator`; uses two parameters. */
const insertLinkFor = (first: number): string => `
  , link as (
    insert into operator_links (code_hash, operator_id, expires_at)
    select $${first}, id, ${after(`$${first + 1}`)} from operator
    returning expires_at
  )
  select operator.*, link.expires_at from operator, link`;

const codeOf = (row: LinkRow, code: string): SignInCode => ({
  operator: toOperator(row),
  code,
  expiresAt: row.expires_at,
});

/** If two calls have the same code, the later one finds it deleted. Also deletes expired rows. */
async function signIn(
  db: Db,
  code: string,
): Promise<{ operator: Operator; session: string } | null> {
  const session = randomToken();
  const { rows } = await db.query<OperatorRow>(
    `with used as (
       delete from operator_links where code_hash = $1 or expires_at <= db_clock()
       returning code_hash, operator_id, expires_at
     ),
     outdated as (
       delete from operator_sessions where expires_at <= db_clock()
     ),
     started as (
       insert into operator_sessions (token_hash, operator_id, expires_at)
       select $2, operator_id, ${after('$3')} from used
       where code_hash = $1 and expires_at > db_clock()
       returning operator_id
     )
     select o.id, o.name, o.created_at from started join operators o on o.id = started.operator_id`,
    [hashOfToken(code), hashOfToken(session), limits.operator.sessionMs],
  );
  return rows[0] ? { operator: toOperator(rows[0]), session } : null;
}

async function findBySession(db: Db, session: string): Promise<Operator | null> {
  const { rows } = await db.query<OperatorRow>(
    `select o.id, o.name, o.created_at
     from operator_sessions s join operators o on o.id = s.operator_id
     where s.token_hash = $1 and s.expires_at > db_clock()`,
    [hashOfToken(session)],
  );
  return rows[0] ? toOperator(rows[0]) : null;
}

async function signOut(db: Db, session: string): Promise<boolean> {
  const text = 'delete from operator_sessions where token_hash = $1';
  return (await db.query(text, [hashOfToken(session)])).rowCount === 1;
}

async function listOperators(db: Db): Promise<Operator[]> {
  const text = 'select id, name, created_at from operators order by created_at, id';
  const { rows } = await db.query<OperatorRow>(text);
  return rows.map(toOperator);
}

async function removeOperator(db: Db, name: string): Promise<string | null> {
  const text = 'delete from operators where name = $1 returning id';
  const { rows } = await db.query<{ id: string }>(text, [name]);
  return rows[0]?.id ?? null;
}

function toOperator(row: OperatorRow): Operator {
  return { operatorId: row.id, name: row.name, createdAt: row.created_at };
}
