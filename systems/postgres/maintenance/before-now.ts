/**
 * SQL of the time that lies the parameter's milliseconds in the past. The subquery is evaluated
 * once: Postgres compares an index only with a value that is the same for every row.
 */
export const before = (parameter: string): string =>
  `(select db_clock()) - ${parameter} * interval '1 ms'`;
