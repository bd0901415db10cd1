import { useSignal } from '@preact/signals';
import { useContext } from 'preact/hooks';
import type { Answers } from '../../client/runs/run.ts';
import type { QuestionEntry } from '../../client/transcript/entries.ts';
import { isObject, type JsonObject, listIn, textIn } from '../../core/json.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { FailureNote } from '../ui/failure-note.tsx';
import { AnswerContext } from './answer-context.ts';

/** Questions of the agent, with a form while they are open. */
export function Question({ entry }: { entry: QuestionEntry }) {
  const answer = useContext(AnswerContext);
  const failure = useSignal<Failure | null>(null);
  const isBusy = useSignal(false);
  if (entry.state !== 'open') return <ClosedQuestion entry={entry} />;

  async function send(form: HTMLFormElement): Promise<void> {
    isBusy.value = true;
    failure.value = null;
    try {
      await answer?.(entry.interactionId, answersIn(form, entry));
    } catch (error) {
      failure.value = failureOf(error);
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    >
      <div class="speaker">The agent asks</div>
      {entry.questions.map((question, at) => (
        <Options key={at} name={fieldName(entry, at)} question={question} />
      ))}
      {failure.value !== null && <FailureNote failure={failure.value} />}
      <button type="submit" class="primary" disabled={isBusy.value || answer === null}>
        Answer
      </button>
    </form>
  );
}

const fieldName = (entry: QuestionEntry, at: number): string => `${entry.interactionId}.${at}`;
const textOf = (question: JsonObject): string => textIn(question, 'question') ?? '';

function Options({ name, question }: { name: string; question: JsonObject }) {
  const type = question.multiSelect === true ? 'checkbox' : 'radio';
  const options = listIn(question, 'options').filter(isObject);
  return (
    <fieldset>
      <legend>{textOf(question)}</legend>
      {options.map((option, key) => (
        <label key={key} class="option">
          <input type={type} name={name} value={textIn(option, 'label') ?? ''} />
          <span>
            {textIn(option, 'label')}
            <span class="muted small under">{textIn(option, 'description')}</span>
          </span>
        </label>
      ))}
      <label class="option">
        <span>Other</span>
        <input type="text" name={`${name}.other`} />
      </label>
    </fieldset>
  );
}

/** A written answer replaces the selected option of a single choice. */
function answersIn(form: HTMLFormElement, entry: QuestionEntry): Answers {
  const fields = new FormData(form);
  const texts = (name: string): string[] =>
    fields.getAll(name).filter((value) => typeof value === 'string' && value !== '') as string[]; // files are no strings
  return Object.fromEntries(
    entry.questions.map((question, at) => {
      const name = fieldName(entry, at);
      const other = texts(`${name}.other`);
      const chosen = [...texts(name), ...other];
      return [textOf(question), question.multiSelect === true ? chosen : (chosen.at(-1) ?? '')];
    }),
  );
}

function ClosedQuestion({ entry }: { entry: QuestionEntry }) {
  return (
    <div class="note">
      <p>{entry.questions.map(textOf).join(' ')}</p>
      <p class="muted small">
        {entry.state === 'answered' ? 'Answered.' : 'Withdrawn without an answer.'}
      </p>
    </div>
  );
}
