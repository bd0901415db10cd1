// A page of a list ends with the row that reaches a size, so long values do not fill the memory.

/**
 * Selects the rows `f` with `found`, their number, and `bytes_before`, the size of the rows before
 * each of them. No long value is read for that. `rows` are those of the longest page, and one more.
 */
export const withBytesBefore = (rows: string, by: { bytes: string; order: string }): string => `
  select f.*, count(*) over () as found,
         sum(${by.bytes}) over (order by ${by.order}) - (${by.bytes}) as bytes_before
  from (${rows}) f`;

/** The size of these columns of the row `f`. */
export const bytesOf = (...columns: string[]): string =>
  columns.map((column) => `coalesce(octet_length(f.${column}), 0)`).join(' + ');

/** The rows of the page, and its last one if there is a next page. */
export function cutPage<Row extends { found: number }>(
  rows: Row[],
  limit: number,
): { page: Row[]; lastBeforeNext: Row | undefined } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, lastBeforeNext: last?.found === page.length ? undefined : last };
}
