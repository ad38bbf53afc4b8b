/** The runbook, served beside the page that links to it: at night the network that has the documents may be down. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { type Html, html, trusted } from '../../lib/template.ts';

export const RUNBOOK = '/runbook';
const FILE = new URL('../../../docs/runbook.md', import.meta.url);

/** Serves the headings and text of the runbook; links within it work. @param headers of the answer */
export function runbookPage(app: FastifyInstance, headers: Readonly<Record<string, string>>, style: string): void {
  app.get(RUNBOOK, async (_request, reply) => {
    const [before = '', ...sections] = (await readFile(FILE, 'utf8')).split(/^(?=#{2,3} )/m);
    return reply
      .headers(headers)
      .type('text/html; charset=utf-8')
      .send(
        html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runbook - Koppelvlak</title><style>${trusted(style)}</style></head>
<body><main><h1>Runbook</h1>
<p><a href="/">To the operator’s page</a></p>
<div class="text">${linked(before.replace(/^# .*\n/, '').trim())}</div>
${sections.map(section)}
</main></body></html>
`.markup,
      );
  });
}

function section(text: string): Html {
  const [, level = '', title = '', body = ''] = /^(#+) (.*)\n([\s\S]*)$/.exec(text) ?? [];
  const tag = trusted(`h${level.length}`);
  return html`<${tag} id="${slug(title)}">${title}</${tag}>
<div class="text">${linked(body.trim())}</div>
`;
}

/** The address of a heading, as GitHub makes it. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Text as it is written; only links to its own headings become links. */
function linked(text: string): readonly (Html | string)[] {
  return text.split(/(\[[^[\]]+\]\([^()]+\))/).map((piece) => {
    const [, name = '', target = ''] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? [];
    if (name === '') return piece;
    return target.startsWith('#') ? html`<a href="${target}">${name}</a>` : `${name} (${target})`;
  });
}
