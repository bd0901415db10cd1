import { Command } from 'commander';
import type { Answers, RunDetails } from '../../../client/index.ts';
import { CliError, UsageError } from '../../format-error.ts';
import { note, write } from '../../print.ts';
import { answerOf, askQuestions, textOf } from '../ask-questions.ts';
import { connect } from '../connection.ts';
import { openLines } from '../read-lines.ts';
import { findRun, runHelp } from '../runs/find-run.ts';

type Interaction = RunDetails['interactions'][number];

export function answerCommand(): Command {
  return new Command('answer')
    .description("answer the agent's questions")
    .argument('<run>', runHelp)
    .argument('[answers...]', 'one answer per question, as a text or the number of an option')
    .option('--json', 'print the questions as JSON instead, and answer none')
    .action(async (reference: string, texts: string[], { json }: { json?: true }) => {
      const run = await findRun(await connect(), reference);
      const { interactions } = await run.read();
      if (json === true) return write(JSON.stringify(interactions));
      const [interaction] = interactions;
      if (interaction === undefined) throw new CliError('The agent has no open question.');
      await run.answer(interaction, await answersTo(interaction, texts));
      note('The agent has the answer.');
    });
}

async function answersTo({ questions }: Interaction, texts: string[]): Promise<Answers> {
  if (texts.length === 0) {
    const lines = openLines();
    try {
      return await askQuestions(questions, lines.read);
    } finally {
      lines.close();
    }
  }
  if (texts.length !== questions.length)
    throw new UsageError(`The agent asks ${questions.length} questions: pass one answer for each.`);
  return Object.fromEntries(
    questions.map((question, index) => [textOf(question), answerOf(question, texts[index] ?? '')]),
  );
}
