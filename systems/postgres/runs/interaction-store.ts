import type {
  Answers,
  Interaction,
  InteractionEvent,
  InteractionOutcome,
} from '../../../core/agent/interaction.ts';
import { type ChangeAuthor, changeBy } from '../accounts/record-entry.ts';
import { storableJson } from '../client/json-text.ts';
import type { Db, Pool } from '../client/pool.ts';
import { recordRunChange } from './record-run-change.ts';

export interface StoredInteraction extends Interaction {
  askedAt: Date;
  /** Null until answered. */
  answers: Answers | null;
  /** Null while the agent waits. */
  outcome: InteractionOutcome | null;
}

interface NewAnswers {
  runId: string;
  interactionId: string;
  answers: Answers;
  /** The operator who answers; by default the answer has no entry in the audit log. */
  author?: ChangeAuthor;
}

export type InteractionStore = ReturnType<typeof createInteractionStore>;

/** The questions of agents, and their answers. */
export function createInteractionStore(pool: Pool) {
  return {
    /** Safe to repeat: known events change nothing. */
    record: (runId: string, events: InteractionEvent[]) => record(pool, runId, events),
    find: (runId: string, interactionId: string) => find(pool, runId, interactionId),
    /** The questions that the agent waits for, oldest first. */
    open: (runId: string) => readOpen(pool, runId),
    /** False if it was answered before, or the agent no longer waits. */
    answer: (of: NewAnswers) => changeBy(pool, of.author, (db) => answer(db, of)),
  };
}

async function record(db: Db, runId: string, events: InteractionEvent[]): Promise<void> {
  const asked = events.flatMap((event) => (event.kind === 'asked' ? [event.interaction] : []));
  const closed = events.flatMap((event) => (event.kind === 'closed' ? [event] : []));
  if (asked.length > 0) {
    await db.query(
      `with asked as (
         insert into interactions (run_id, id, tool_name, input)
         select $1, n.id, n.tool_name, n.input
         from unnest($2::text[], $3::text[], $4::text[]) n(id, tool_name, input)
         on conflict do nothing
         returning *
       ),
       counted as (
         insert into stored_bytes_changes (project_id, kind, bytes)
         select r.project_id, 'messages', sum(octet_length(a.input))
         from asked a join runs r on r.id = a.run_id group by r.project_id
       )
       select add_event(r.project_id, 'interaction.asked', json_build_object(
         'interactionId', a.id, 'toolName', a.tool_name, 'input', a.input::json,
         'askedAt', iso_timestamp(a.asked_at)
       ), r.id)
       from asked a join runs r on r.id = a.run_id order by a.asked_at, a.id`,
      [
        runId,
        asked.map(({ interactionId }) => interactionId),
        asked.map(({ toolName }) => toolName),
        asked.map(({ input }) => storableJson(input)),
      ],
    );
  }
  if (closed.length > 0) {
    await db.query(
      `update interactions i set outcome = n.outcome
       from unnest($2::text[], $3::text[]) n(id, outcome)
       where i.run_id = $1 and i.id = n.id and i.outcome is null`,
      [
        runId,
        closed.map(({ interactionId }) => interactionId),
        closed.map(({ outcome }) => outcome),
      ],
    );
  }
}

interface InteractionRow {
  id: string;
  tool_name: string;
  input: string;
  asked_at: Date;
  answers: string | null;
  outcome: InteractionOutcome | null;
}

const selectInteractions = `
  select id, tool_name, input, asked_at, answers, outcome from interactions`;

async function find(
  db: Db,
  runId: string,
  interactionId: string,
): Promise<StoredInteraction | null> {
  const text = `${selectInteractions} where run_id = $1 and id = $2`;
  const { rows } = await db.query<InteractionRow>(text, [runId, interactionId]);
  return rows[0] === undefined ? null : toInteraction(rows[0]);
}

async function readOpen(db: Db, runId: string): Promise<StoredInteraction[]> {
  const text = `${selectInteractions} where run_id = $1 and outcome is null order by asked_at, id`;
  const { rows } = await db.query<InteractionRow>(text, [runId]);
  return rows.map(toInteraction);
}

/** If two answers are concurrent, one wins: the later call finds the row changed. */
async function answer(
  db: Db,
  { runId, interactionId, answers, author }: NewAnswers,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with answered as (
       update interactions set answers = $3, answered_at = db_clock()
       where run_id = $1 and id = $2 and answers is null and outcome is null
       returning run_id, octet_length(answers) as bytes
     )
     insert into stored_bytes_changes (project_id, kind, bytes)
     select r.project_id, 'messages', a.bytes from answered a join runs r on r.id = a.run_id`,
    [runId, interactionId, storableJson(JSON.stringify(answers))],
  );
  if (rowCount !== 1) return false;
  const fields = { fieldsAfter: ['answers'] };
  await recordRunChange(db, author, { runId, action: 'question_answered', ...fields });
  return true;
}

function toInteraction(row: InteractionRow): StoredInteraction {
  return {
    interactionId: row.id,
    toolName: row.tool_name,
    input: row.input,
    askedAt: row.asked_at,
    // Only `answer` writes it.
    answers: row.answers === null ? null : (JSON.parse(row.answers) as Answers),
    outcome: row.outcome,
  };
}
