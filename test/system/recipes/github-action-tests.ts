import { expect, it, type TestContext } from 'vitest';
import { codeBlockOf } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { script } from '../../support/prompts.ts';
import { startGithubApi } from './github-api.ts';
import { runWorkflow, type Trigger } from './github-workflow.ts';

const page = 'docs/recipes/github-action.md';
const diff = 'diff --git a/a.txt b/a.txt\n+new\n';

interface Labeled {
  on: Trigger['name'];
  item: { number: number; title: string; body: string };
  name?: string;
}

export function githubActionTests(acme: () => Acme): void {
  let key: Promise<string> | null = null;

  /** Labels an issue or pull request. */
  async function label({ onTestFinished }: TestContext, { on, item, name = 'agent' }: Labeled) {
    const github = await startGithubApi({ 8: diff });
    onTestFinished(github.close);
    const of = on === 'issues' ? 'issue' : on;
    const { agent } = await runWorkflow(codeBlockOf(page, 'yaml'), {
      name: on,
      event: { action: 'labeled', label: { name }, [of]: item },
      secrets: {
        FLOWRUN_URL: acme().service.url,
        FLOWRUN_KEY: (await (key ??= acme().operate(codeBlockOf(page, 'sh')))).trim(),
      },
      apiUrl: github.url,
    });
    return { agent, comments: github.comments };
  }

  /** The IDs of the runs for an issue or pull request. */
  async function runsOf(number: number): Promise<string[]> {
    const path = `/runs?label=github:${encodeURIComponent(`acme/shop#${number}`)}`;
    return (await acme().api.call<{ runId: string }[]>('GET', path)).data.map(({ runId }) => runId);
  }

  it('answers an issue with a comment, and takes its text for nothing but text', async (context) => {
    const item = {
      number: 7,
      title: '"; touch hacked; $(touch hacked)',
      body: script([{ shell: 'ls -A' }, { say: 'It is written.' }]),
    };
    const { agent, comments } = await label(context, { on: 'issues', item });
    expect(agent?.conclusion, agent?.log).toBe('success');
    expect(comments).toEqual([{ number: '7', body: 'It is written.\n' }]);
    expect(agent?.log).toContain(item.title);
    const [runId] = await runsOf(7);
    expect((await acme().api.call('GET', `/runs/${runId}/files`)).data).toMatchObject([
      { path: '.flowignore', scope: 'run' },
    ]);
  });

  it('gives the diff of a pull request to this run alone', async (context) => {
    const body = script([{ shell: 'grep new changes.diff' }, { say: 'I have read it.' }]);
    const item = { number: 8, title: 'Add', body };
    const { agent, comments } = await label(context, { on: 'pull_request', item });
    expect(agent?.conclusion, agent?.log).toBe('success');
    expect(comments).toEqual([{ number: '8', body: 'I have read it.\n' }]);
    const [runId] = await runsOf(8);
    const read = await acme().api.call('GET', `/runs/${runId}/files/changes.diff`);
    expect(read.body).toBe(diff);
    expect((await acme().api.call('GET', `/flows/${acme().flowId}/files`)).data).toEqual([]);
  });

  it('says that the run has failed, and fails with its exit code', async (context) => {
    const item = { number: 9, title: 'Fail', body: script([{ exit: 7 }]) };
    const { agent, comments } = await label(context, { on: 'issues', item });
    expect(agent?.conclusion).toBe('failure');
    expect(agent?.log).toContain('Process completed with exit code 10.');
    const log = 'https://github.com/acme/shop/actions/runs/1658821493';
    expect(comments).toEqual([{ number: '9', body: `The run has failed: ${log}\n` }]);
  });

  it('starts nothing for another label', async (context) => {
    const item = { number: 10, title: '', body: '' };
    const { agent, comments } = await label(context, { on: 'issues', item, name: 'bug' });
    expect(agent).toEqual({ conclusion: 'skipped', log: '' });
    expect(comments).toEqual([]);
  });
}
