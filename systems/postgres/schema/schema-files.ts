// The files that make up the schema. Migrations are numbered and applied once each. Functions are
// applied again whenever their text changes.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SchemaFile {
  /** The file's name without `.sql`; of a function also its name in the database. */
  name: string;
  sql: string;
  sha256: string;
}

export interface SchemaFiles {
  /** The files in the order in which they are applied. */
  migrations: SchemaFile[];
  functions: SchemaFile[];
}

const schemaFolder = fileURLToPath(new URL('.', import.meta.url));

export async function readSchemaFiles(folder = schemaFolder): Promise<SchemaFiles> {
  const [migrations, functions] = await Promise.all([
    readSqlFiles(folder, /^\d{3}_\w+\.sql$/),
    readSqlFiles(join(folder, 'functions'), /^(?:\w+\/)?\w+\.sql$/),
  ]);
  return { migrations, functions };
}

/** The files of a folder in the order of their names. */
async function readSqlFiles(folder: string, pattern: RegExp): Promise<SchemaFile[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => pattern.test(path));
  const files = paths.map((path) => ({ path: join(folder, path), name: basename(path, '.sql') }));
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return Promise.all(
    files.map(async ({ path, name }) => {
      const sql = await readFile(path, 'utf8');
      return { name, sql, sha256: hashOfSql(sql) };
    }),
  );
}

/** White space and comments that fill a line do not count. */
function hashOfSql(sql: string): string {
  const statements = sql.replaceAll(/^\s*--.*$/gm, '').replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(statements).digest('hex');
}
