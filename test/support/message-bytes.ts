import type { Pool } from '../../systems/postgres/client/pool.ts';

/**
 * All that counts as messages of a project, read from its rows: prompts, results, webhook bodies,
 * events for endpoints, messages with replies, and questions with answers.
 */
export async function messageBytesInPostgres(pool: Pool, projectId: string): Promise<number> {
  const sum = (columns: string[], from: string): string => {
    const bytes = columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');
    return `(select coalesce(sum(${bytes}), 0) from ${from} where r.project_id = $1)`;
  };
  const ofRuns = ['prompt', 'result', 'structured_output', 'webhook_body'];
  const text = `select (
    ${sum(ofRuns, 'runs r')}
    + ${sum(['body'], 'webhook_events r')}
    + ${sum(['text', 'reply'], 'session_messages m join runs r on r.id = m.run_id')}
    + ${sum(['input', 'answers'], 'interactions i join runs r on r.id = i.run_id')}
  )::float8 as bytes`;
  return (await pool.query<{ bytes: number }>(text, [projectId])).rows[0]?.bytes ?? 0;
}
