import { readdirSync, readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Pool } from '../../systems/postgres/client/pool.ts';
import { stackEnv } from './stack-env.ts';

/** Everything that Temporal stores about a workflow: events, memo and attributes, also decoded. */
export async function historyText(workflowId: string): Promise<string> {
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  try {
    const handle = new Client({ connection }).workflow.getHandle(workflowId);
    const history = historyToJSON(await handle.fetchHistory());
    const { raw } = await handle.describe();
    const details: unknown = await handle.query('__temporal_workflow_metadata');
    return decoded([history, JSON.stringify(raw), JSON.stringify(details)].join('\n'));
  } finally {
    await connection.close();
  }
}

function decoded(text: string): string {
  const encoded = text.match(/"[A-Za-z0-9+/=]{8,}"/g) ?? [];
  const plain = encoded.map((each) => Buffer.from(each.slice(1, -1), 'base64').toString());
  return [text, ...plain].join('\n');
}

/** The command line of every process on this machine, as in `ps`. */
export function processList(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`))
    .join('\n');
}

/** The environment of a process and of all its descendants. */
export function environmentsBelow(pid: number): string {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => readIfThere(`/proc/${name}/status`).includes(`PPid:\t${pid}\n`));
  const environment = readIfThere(`/proc/${pid}/environ`);
  return [environment, ...children.map((child) => environmentsBelow(Number(child)))].join('\n');
}

/** Every row of every table, as text. */
export async function databaseText(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const tables = await Promise.all(
    rows.map(({ name }) => pool.query<{ row: string }>(`select t::text as row from ${name} t`)),
  );
  return tables.flatMap((table) => table.rows.map(({ row }) => row)).join('\n');
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // the process has ended
  }
}
