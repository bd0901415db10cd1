// Frames go into the log in one statement, which is one transaction: it moves the run's cursor,
// stores the frames under the numbers that the move gave, and notes on the run what they say of it.
// The move compares the lease's token, the generation and the offset with what the writer believes;
// where one differs nothing is written. So of two tailers one writes, and no batch is stored twice.
// The statements are long and have names, so that a connection plans each of them once.

import type { AgentState } from '../../../core/agent/agent-state.ts';
import type { TurnResult } from '../../../core/agent/turn-result.ts';
import type { Frame } from '../../../core/frames/frame.ts';
import type { AgentStatus } from '../../../core/runs/run.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import { storableJson } from '../client/json-text.ts';
import type { Db } from '../client/pool.ts';

/** What a batch says of its run. One turn at most: cut a batch after a result. */
interface RunUpdate {
  agentStatus?: AgentStatus;
  turn?: Pick<TurnResult, 'result' | 'structuredOutput' | 'usage' | 'costUsd' | 'numTurns'>;
}

export interface Batch {
  runId: string;
  token: number;
  generation: number;
  /** Where in the spool the batch begins: must be where the log has got to. */
  fromOffset: number;
  toOffset: number;
  frames: Frame[];
  facts: RunUpdate;
  /** What is known of the agent at the batch's end; absent where that has not changed. */
  agentState?: AgentState;
}

export interface OwnFrames {
  runId: string;
  frames: Frame[];
  facts?: RunUpdate;
  /** Given by a lease's holder, so that a holder who lost it writes nothing. */
  token?: number;
}

export type Appended =
  /** `firstSeq` is `lastSeq + 1` for a batch without frames. */
  | { outcome: 'stored'; firstSeq: number; lastSeq: number; at: Date }
  /** Another has the lease, or the run has ended: write nothing more. */
  | { outcome: 'fenced' };

/**
 * What else is written with a batch, if it is: a further part of its statement, with values from $21
 * on.
 */
interface ExtraCte {
  /** Names the whole statement. */
  name: string;
  part: string;
  values: unknown[];
}

/** Safe to repeat with the same batch: a second call finds what the first has stored. */
export async function appendFrames(db: Db, batch: Batch, beside?: ExtraCte): Promise<Appended> {
  const { runId, token, generation, fromOffset, toOffset, frames } = batch;
  if (toOffset <= fromOffset) throw new RangeError('a batch of frames covers no bytes');
  const memory = batch.agentState === undefined ? null : JSON.stringify(batch.agentState);
  const position = [token, generation, fromOffset, toOffset, memory];
  const { rows } = await db.query<AdvancedRow>({
    name: beside?.name ?? 'append_batch',
    text: appendStatement(advanceByBatch, beside?.part),
    values: [...valuesOf(runId, frames, batch.facts), ...position, ...(beside?.values ?? [])],
  });
  return stored(rows[0] ?? (await findStoredBatch(db, batch)), frames.length);
}

/** Frames in the service's own name, from no place in the spool. */
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
 * The batch of a writer whose commit went through unheard. Only the lease's holder writes, so a
 * cursor under its token that went from this batch's start to its end went there by this very batch.
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

/** $1 to $15, as both statements below number them. */
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
    turn?.usage.inputTokens ?? 0,
    turn?.usage.outputTokens ?? 0,
    turn?.usage.cacheReadInputTokens ?? 0,
    turn?.usage.cacheCreationInputTokens ?? 0,
    turn?.costUsd ?? null,
    turn?.numTurns ?? 0,
  ];
}

/**
 * A list as one text: as an array every quotation mark of every frame would be escaped here and
 * unescaped there, which took longer than all the rest. In JSON a line end is white space.
 */
function joinLines(values: string[]): string {
  return values.map((value) => value.replaceAll('\n', ' ')).join('\n');
}

/**
 * Usage and turns add up; a cost is the agent's own running total and replaces the last one. What
 * was asked for in a structure stays: a turn that the agent begins by itself says nothing of it. An
 * agent may claim any number, however often: the sums stop before they leave their columns.
 */
const appendStatement = (move: string, beside?: string): string => `
  with moved as (${move} returning last_seq, db_clock() as at),
  kept as (
    insert into frames (run_id, seq, at, event, channel, data)
    select $1::uuid, moved.last_seq - $2::bigint + f.n, moved.at, f.event, f.channel, f.data
    from moved, rows from (
      string_to_table($3, E'\\n'), string_to_table($4, E'\\n'), string_to_table($5, E'\\n')
    ) with ordinality f(event, channel, data, n)
  ),
  noted as (
    update runs r
    set agent_status = coalesce($6::text, r.agent_status),
        result = case when $7::boolean then $8::text else r.result end,
        structured_output = coalesce($9::text, r.structured_output),
        input_tokens = least(r.input_tokens + $10::bigint, 9e15),
        output_tokens = least(r.output_tokens + $11::bigint, 9e15),
        cache_read_input_tokens = least(r.cache_read_input_tokens + $12::bigint, 9e15),
        cache_creation_input_tokens = least(r.cache_creation_input_tokens + $13::bigint, 9e15),
        cost_usd = coalesce($14::double precision, r.cost_usd),
        num_turns = least(r.num_turns + $15::bigint, 2e9)
    from moved
    where r.id = $1 and ($6::text is not null or $7::boolean)
    returning r.id
  )${beside === undefined ? '' : `, ${beside}`}
  select last_seq, at from moved`;

const advanceByBatch = `
  update run_logs
  set byte_offset = $19, last_seq = last_seq + $2, agent_state = coalesce($20, agent_state),
      last_batch_offset = $18, last_batch_seq = last_seq + $2
  where run_id = $1 and lease_token = $16 and generation = $17 and byte_offset = $18 and not is_final`;

const advanceByOwn = `
  update run_logs set last_seq = last_seq + $2
  where run_id = $1 and not is_final and ($16::bigint is null or lease_token = $16)`;
