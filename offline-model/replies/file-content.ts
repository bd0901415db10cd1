import { shortened } from './words.ts';

/** The content of a requested file: the text in the prompt, or a text about the prompt. */
export function fileContent(path: string, prompt: string): string {
  const quotedText =
    /\b(?:containing|saying|with (?:the )?(?:text|content|contents|words?|line))[\s:]*[`"“']([^`"”']+)[`"”']/i;
  const words = quotedText.exec(prompt)?.[1];
  if (words !== undefined) return `${words}\n`;
  if (/\bhaiku\b/i.test(prompt)) return haiku;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return byExtension(name, shortened(prompt, 400));
}

const haiku = `No wire to the world,
yet the words arrive on time.
The test light turns green.
`;

function byExtension(name: string, about: string): string {
  const text = JSON.stringify(about);
  switch (name.slice(name.lastIndexOf('.') + 1).toLowerCase()) {
    case 'json':
      return `${JSON.stringify({ file: name, about, writtenBy: 'the offline model' }, null, 2)}\n`;
    case 'js':
    case 'mjs':
    case 'ts':
      return `// ${name}\nconst about = ${text};\nconsole.log(about);\n`;
    case 'py':
      return `# ${name}\nabout = ${text}\nprint(about)\n`;
    case 'sh':
      return `#!/bin/sh\n# ${name}\ncat <<'END'\n${about}\nEND\n`;
    case 'csv':
      return `word,length\n${rows(about)}\n`;
    case 'html':
      return `<!doctype html>\n<title>${name}</title>\n<p>${escaped(about)}</p>\n`;
    case 'md':
      return `# ${title(name)}\n\n${prose(about)}`;
    default:
      return `${title(name)}\n\n${prose(about)}`;
  }
}

function prose(about: string): string {
  return `The request was: ${about}

- The offline model wrote this text by fixed rules.
- The agent's Write tool stored it here.
- Everything else ran for real: the HTTP request, the sandbox, the agent and this file.
`;
}

function title(name: string): string {
  const words = name.replace(/\.[^.]*$/, '').replace(/[-_]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function rows(about: string): string {
  const words = about.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => `${word},${word.length}`).join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
