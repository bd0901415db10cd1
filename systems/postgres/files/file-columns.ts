/** The version of a file in this table as JSON; null if there is no file. */
export const fileVersion = (table: string): string => `
  case when ${table}.path is not null then json_build_object(
    'size', ${table}.size, 'sha256', encode(${table}.sha256, 'hex'), 'mode', ${table}.mode
  ) end`;

/** What `isExecutable` compares. */
export const executable = (table: string): string => `(${table}.mode & 64) <> 0`;
