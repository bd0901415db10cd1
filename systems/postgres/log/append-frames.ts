// One statement, and therefore one transaction, appends frames: it advances the head of the log,
// inserts the frames under the new numbers, and updates the run. It compares the token of the
// lease, the generation and the offset with those of the writer, and writes nothing if one differs.
// Of two tailers only one writes, and no batch is stored twice. The statements are long, so they
// are prepared by name: each connection plans them once.

import type { AgentState } from '../../../core/agent/agent-state.ts';
import type { TurnResult } from '../../../core/agent/turn-result.ts';
import type { Frame } from '../../../core/frames/frame.ts';
import type { AgentStatus } from '../../../core/runs/run.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import { storableJson } from '../client/json-text.ts';
import type { Db } from '../client/pool.ts';

/**
 * The changes of a run that a batch implies. A batch has at most one turn, so it ends after a
 * result.
 */
interface RunUpdate {
  agentStatus?: AgentStatus;
  turn?: Pick<TurnResult, 'result' | 'structuredOutput' | 'numTurns'>;
}

export interface Batch {
  runId: string;
  token: number;
  generation: number;
  /** The position in the spool where the batch starts; must be the end of the log. */
  fromOffset: number;
  toOffset: number;
  frames: Frame[];
  facts: RunUpdate;
  /** The agent's state after the batch; absent if it has not changed. */
  agentState?: AgentState;
}

export interface OwnFrames {
  runId: string;
  frames: Frame[];
  facts?: RunUpdate;
  /** The token of the writer. A writer that lost its lease stores nothing. */
  token?: number;
}

export type Appended =
  /** `firstSeq` is `lastSeq + 1` for a batch without frames. */
  | { outcome: 'stored'; firstSeq: number; lastSeq: number; at: Date }
  /** Another process has the lease, or the run has ended: stop writing. */
  | { outcome: 'fenced' };

/** A further CTE of the statement, with values from $16 on. */
interface ExtraCte {
  /** The name under which the whole statement is prepared. */
  name: string;
  part: string;
  /** An expression that is evaluated once the frames are appended. */
  result: string;
  values: unknown[];
}

/** Safe to repeat: a second call with the same batch returns what the first one stored. */
export async function appendFrames(db: Db, batch: Batch, beside?: ExtraCte): Promise<Appended> {
  const { runId, token, generation, fromOffset, toOffset, frames } = batch;
  if (toOffset <= fromOffset) throw new RangeError('a batch must cover at least one byte');
  const memory = batch.agentState === undefined ? null : JSON.stringify(batch.agentState);
  const position = [token, generation, fromOffset, toOffset, memory];
  const { rows } = await db.query<AdvancedRow>({
    name: beside?.name ?? 'append_batch',
    text: appendStatement(advanceByBatch, beside),
    values: [...valuesOf(runId, frames, batch.facts), ...position, ...(beside?.values ?? [])],
  });
  return stored(rows[0] ?? (await findStoredBatch(db, batch)), frames.length);
}

/** Frames that the service writes itself, without a position in the spool. */
export async function appendOwnFrames(db: Db, own: OwnFrames): Promise<Appended> {
  const values = [...valuesOf(own.runId, own.frames, own.facts ?? {}), own.token ?? null];
  const text = appendStatement(advanceByOwn);
  const { rows } = await db.query<AdvancedRow>({ name: 'append_own', text, values });
  return stored(rows[0] ?? null, own.frames.length);
}

interface AdvancedRow {
  last_seq: number;
  at: Date;
}

function stored(moved: AdvancedRow | null, count: number): Appended {
  if (moved === null) return { outcome: 'fenced' };
  const { last_seq: lastSeq, at } = moved;
  return { outcome: 'stored', firstSeq: lastSeq - count + 1, lastSeq, at };
}

/**
 * The batch of a writer whose commit was not confirmed. Only the holder of the lease writes, so a
 * log that was advanced from the start to the end of this batch under its token was advanced by
 * this batch.
 */
async function findStoredBatch(db: Db, batch: Batch): Promise<AdvancedRow | null> {
  const { rows } = await db.query<AdvancedRow>(
    `select l.last_batch_seq as last_seq, coalesce(f.at, db_clock()) as at
     from run_logs l left join frames f on f.run_id = l.run_id and f.seq = l.last_batch_seq
     where l.run_id = $1 and l.lease_token = $2 and l.generation = $3
       and l.last_batch_offset = $4 and l.byte_offset = $5`,
    [batch.runId, batch.token, batch.generation, batch.fromOffset, batch.toOffset],
  );
  return rows[0] ?? null;
}

/** $1 to $10 of both statements below. */
function valuesOf(runId: string, frames: Frame[], { agentStatus, turn }: RunUpdate): unknown[] {
  return [
    runId,
    frames.length,
    joinLines(frames.map((frame) => stripUnstorable(frame.event))),
    joinLines(frames.map((frame) => frame.channel)),
    joinLines(frames.map((frame) => storableJson(frame.data))),
    agentStatus ?? null,
    turn !== undefined,
    turn?.result == null ? null : stripUnstorable(turn.result),
    turn?.structuredOutput == null ? null : storableJson(turn.structuredOutput),
    turn?.numTurns ?? 0,
  ];
}

/**
 * A list as one text. As an array, every quotation mark of every frame would be escaped here and
 * unescaped by Postgres, which took longer than everything else. In JSON a line end is white space.
 */
function joinLines(values: string[]): string {
  return values.map((value) => value.replaceAll('\n', ' ')).join('\n');
}

/**
 * A result replaces that of the last turn, and is counted instead of it. Only the writer of the log
 * stores results, so no other statement replaces the same one. Turns are added up. The structured
 * output is kept, because a turn that the agent starts itself has none. An agent may report any
 * number, so the sum stops before its column overflows.
 */
const appendStatement = (advance: string, beside?: ExtraCte): string => `
  with advanced as (${advance} returning last_seq, db_clock() as at),
  inserted as (
    insert into frames (run_id, seq, at, event, channel, data)
    select $1::uuid, advanced.last_seq - $2::bigint + f.n, advanced.at, f.event, f.channel, f.data
    from advanced, rows from (
      string_to_table($3, E'\\n'), string_to_table($4, E'\\n'), string_to_table($5, E'\\n')
    ) with ordinality f(event, channel, data, n)
  ),
  counted as (
    insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, stored.kind, stored.bytes
    from advanced, runs r cross join lateral (values
      ('logs', case when $2::bigint > 0 then octet_length($5) - $2::bigint + 1 end),
      ('messages', case when $7::boolean then
        coalesce(octet_length($8::text), 0) - coalesce(octet_length(r.result), 0)
        + coalesce(octet_length($9::text) - coalesce(octet_length(r.structured_output), 0), 0) end)
    ) stored(kind, bytes)
    where r.id = $1 and stored.bytes <> 0
  ),
  run_update as (
    update runs r
    set agent_status = coalesce($6::text, r.agent_status),
        result = case when $7::boolean then $8::text else r.result end,
        structured_output = coalesce($9::text, r.structured_output),
        num_turns = least(r.num_turns + $10::bigint, 2e9)
    from advanced
    where r.id = $1 and ($6::text is not null or $7::boolean)
    returning r.id
  )${beside === undefined ? '' : `, ${beside.part}`}
  select last_seq, at${beside === undefined ? '' : `, ${beside.result}`} from advanced`;

const advanceByBatch = `
  update run_logs
  set byte_offset = $14, last_seq = last_seq + $2, agent_state = coalesce($15, agent_state),
      last_batch_offset = $13, last_batch_seq = last_seq + $2
  where run_id = $1 and lease_token = $11 and generation = $12 and byte_offset = $13 and not is_final`;

const advanceByOwn = `
  update run_logs set last_seq = last_seq + $2
  where run_id = $1 and not is_final and ($11::bigint is null or lease_token = $11)`;
