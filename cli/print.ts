/** Prints a record as JSON or with one line per field. */
export function printRecord(record: object, { json }: { json?: true }): void {
  if (json === true) return write(JSON.stringify(record));
  const fields = Object.entries(record);
  const width = Math.max(...fields.map(([field]) => field.length));
  write(fields.map(([field, value]) => `${field.padEnd(width)}  ${formatValue(value)}`).join('\n'));
}

/** Prints records as JSON or as a table of some of their fields. */
export function printTable<T extends object>(
  records: T[],
  fields: (keyof T & string)[],
  { json }: { json?: true },
): void {
  if (json === true) return write(JSON.stringify(records));
  if (records.length === 0) return write('(none)');
  const rows = [
    fields.map(heading),
    ...records.map((record) => fields.map((field) => cell(record[field]))),
  ];
  const widths = fields.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '),
  );
  write(lines.map((line) => line.trimEnd()).join('\n'));
}

export function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A hint for people, on standard error so that scripts can ignore it. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** `lastUsedAt` becomes `LAST USED AT`. */
export function heading(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => ` ${letter}`).toUpperCase();
}

const cellMaxChars = 40;

function cell(value: unknown): string {
  const text = formatValue(value).replaceAll(/\s+/g, ' ');
  return text.length > cellMaxChars ? `${text.slice(0, cellMaxChars - 1)}…` : text;
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
