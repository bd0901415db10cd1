import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codeBlockOf, fillIn } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { runWorkflow, type Trigger } from './github-workflow.ts';

const page = 'docs/recipes/flows-in-ci.md';

export function flowsInCiTests(acme: () => Acme): void {
  it('shows the changes of a pull request, applies the main branch, and reports others', async ({
    onTestFinished,
  }) => {
    // Another project, because the workflow archives flows that its folder does not have.
    await acme().operate('./flowrun project create acme-ci --name CI');
    const setUp = fillIn(codeBlockOf(page, 'sh'), { 'project acme': 'project acme-ci' });
    const secrets = {
      FLOWRUN_URL: acme().service.url,
      FLOWRUN_TOKEN: (await acme().operate(setUp)).trim(),
      REVIEWER_TOKEN: 'canary',
    };
    const repository = mkdtempSync(join(tmpdir(), 'repository-'));
    onTestFinished(() => rmSync(repository, { recursive: true }));
    mkdirSync(join(repository, 'flows'));
    const put = (text: string) => writeFileSync(join(repository, 'flows/reviewer.md'), text);
    const run = async (name: Trigger['name']) => {
      const trigger = { name, event: {}, secrets, repository };
      const { flows } = await runWorkflow(codeBlockOf(page, 'yaml'), trigger);
      return flows;
    };
    const list = () => acme().operate('./flowrun flow list --project acme-ci');

    put('---\nprompt: Review.\nenv: [GITHUB_TOKEN]\n---\n');
    const check = await run('pull_request');
    expect(check?.conclusion, check?.log).toBe('success');
    expect(check?.log).toContain('create "reviewer"');
    expect(check?.log).not.toContain('canary');
    expect(await list()).not.toContain('reviewer');
    const applied = await run('push');
    expect(applied?.conclusion, applied?.log).toBe('success');
    expect(await list()).toContain('reviewer');

    put('---\nprompt: Review it.\nenv: [GITHUB_TOKEN]\n---\n');
    const changed = await run('schedule');
    expect(changed?.log).toContain('Process completed with exit code 3.');
    put('---\nlimits: { maxTurns: 0 }\n---\n');
    const wrong = await run('pull_request');
    expect(wrong?.conclusion).toBe('failure');
    expect(wrong?.log).toContain('flows/reviewer.md:2: limits.maxTurns');
  });
}
