import type { Db, Pool } from '../client/pool.ts';

export interface SpendQuery {
  projectId: string;
  by: 'day' | 'flow' | 'key' | 'label' | 'model';
  /** The label by whose values the calls are grouped. */
  label?: string;
  /** Days in UTC like 2026-01-31, both inclusive. */
  from: string;
  to: string;
  /** `cost`: the highest first. Days are always in their own order. */
  order: 'cost' | 'group';
  limit: number;
  after?: SpendCursor;
}

/** The position of a group in its order. */
export interface SpendCursor {
  rank: number;
  group: string | null;
}

/** The sums of model calls. */
export interface Spend {
  calls: number;
  /** Calls whose price is unknown. `costNanos` does not include them. */
  unpricedCalls: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costNanos: number;
}

export interface SpendGroup extends Spend {
  /** Null: the calls without a key, or without the label. The value of a label is JSON text. */
  group: string | null;
  /** The name of the flow or key; null for other groups. */
  name: string | null;
}

interface SpendPage {
  /** The sums over all pages. */
  total: Spend;
  groups: SpendGroup[];
  next: SpendCursor | null;
}

export type SpendStore = ReturnType<typeof createSpendStore>;

/** The spend of a project, from the ledger's sums per day. */
export function createSpendStore(pool: Pool) {
  return { page: (query: SpendQuery) => pageOfSpend(pool, query) };
}

const columns = ['calls', 'unpriced_calls', 'input_tokens', 'output_tokens', 'cache_read_tokens'];
const sums = [...columns, 'cache_write_tokens', 'cost_nanos'];

/** The rows of the selected days, each with its group. */
function rowsOf(by: SpendQuery['by']): string {
  const rows = (group: string): string => `
    select ${group} as "group", ${sums.join(', ')} from daily_spending
    where project_id = $1 and day between $2 and $3`;
  switch (by) {
    case 'day':
      return rows(`to_char(day, 'YYYY-MM-DD')`);
    case 'flow':
      return rows('flow_id::text');
    case 'key':
      return rows('key_id::text');
    case 'model':
      return rows('model');
    case 'label':
      return `${rows('null')} union all ${labelRows}`;
  }
}

/** Moves each call with the label from the group without the label to the group of its value. */
const labelRows = `
  select g."group", ${sums.map((name) => `g.sign * l.${name}`).join(', ')}
  from daily_label_spending l
  cross join lateral (values (1, l.value), (-1, null)) g(sign, "group")
  where l.project_id = $1 and l.label = $8 and l.day between $2 and $3`;

const named: Partial<Record<SpendQuery['by'], string>> = {
  flow: 'left join flows n on n.id = p."group"::uuid',
  key: 'left join api_keys n on n.id = p."group"::uuid',
};

/** The sums of a column stay within the safe integers of JavaScript. */
const most = '9e15';
const summed = (name: string): string =>
  `least(greatest(coalesce(sum(${name}), 0), 0), ${most})::bigint as ${name}`;

/** The first row is the total. The page is part of the same snapshot. */
const statementOf = (by: SpendQuery['by']): string => `
  with spent as (${rowsOf(by)}),
  grouped as (
    select "group" collate "C" as "group", grouping("group") = 1 as is_total,
           ${sums.map(summed).join(', ')}
    from spent group by grouping sets (("group"), ())
  ),
  ranked as (
    select g.*, case when $4 then -g.cost_nanos else 0 end as rank from grouped g
  ),
  page as (
    select * from ranked p
    where p.is_total or (p.calls > 0 and ($5::bigint is null or
      (p.rank, p."group" is null, coalesce(p."group", ''))
        > ($5::bigint, $6::text is null, coalesce($6::text, '') collate "C")))
    order by p.is_total desc, p.rank, p."group" is null, p."group"
    limit $7
  )
  select p."group", ${by in named ? 'n.name' : 'null'} as name, p.rank, p.calls,
         p.unpriced_calls as "unpricedCalls", p.input_tokens as "inputTokens",
         p.output_tokens as "outputTokens", p.cache_read_tokens as "cacheReadTokens",
         p.cache_write_tokens as "cacheWriteTokens", p.cost_nanos as "costNanos"
  from page p ${named[by] ?? ''}
  order by p.is_total desc, p.rank, p."group" is null, p."group"`;

async function pageOfSpend(db: Db, query: SpendQuery): Promise<SpendPage> {
  const { projectId, from, to, by, order, limit, after } = query;
  const isByCost = order === 'cost' && by !== 'day';
  const position = [after?.rank ?? null, after?.group ?? null];
  const label = by === 'label' ? [query.label ?? ''] : [];
  const { rows } = await db.query<SpendGroup & { rank: number }>(statementOf(by), [
    ...[projectId, from, to, isByCost, ...position, limit + 2, ...label],
  ]);
  const [total, ...found] = rows;
  if (total === undefined) throw new Error('the spend query returned no total');
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return {
    total: spendOf(total),
    groups: shown.map(({ group, name, ...row }) => ({ group, name, ...spendOf(row) })),
    next: last === undefined ? null : { rank: last.rank, group: last.group },
  };
}

function spendOf(row: Spend): Spend {
  const { calls, unpricedCalls, costNanos } = row;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = row;
  const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return { calls, unpricedCalls, ...tokens, costNanos };
}
