/**
 * SQL for now minus that many milliseconds. The subquery makes `db_clock()` a constant, so that an
 * index can be used.
 */
export const before = (parameter: string): string =>
  `(select db_clock()) - ${parameter} * interval '1 ms'`;
